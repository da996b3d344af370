# --shard-size is about what a shard takes as stored.
make_array a.npy 128 128 128 uint32 '(x * 7919 + y * 104729 + z * 1299709) % 65521'
dolium volume ingest --no-summary --scales 1 --chunk-size 16,16,16 --encoding raw a.npy v
sizes() {
  find "$1" -name '*.shard' -printf '%s\n' | sort -n | python3 -c '
import sys
sizes = list(map(int, sys.stdin))
wanted = int(sys.argv[1])
print("several" if len(sizes) > 1 else "one", "of", "at most" if max(sizes) <= 1.1 * wanted else "more than",
      "that size,", "at least" if max(sizes) >= wanted / 2.2 else "less than", "half of it")' "$2"
}
dolium convert --no-summary --to precomputed --shard-size 1MiB v large
sizes large/1_1_1 1048576
dolium convert --no-summary --to precomputed --shard-size 64KiB v small
sizes small/1_1_1 65536
dolium verify small > /dev/null && echo good
dolium volume downsample --no-summary --scales 2 --shard-size 64KiB large
sizes large/2_2_2 65536
dolium verify large > /dev/null && echo good
echo '{"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 0, "shard_bits": 0}' > spec.json
status dolium volume downsample --scales 3 --shard-size 64KiB --to-spec spec.json large
status dolium volume transcode --shard-size 64KiB --to-spec spec.json large x
status dolium volume ingest --shard-size 64KiB --to-spec spec.json a.npy x
status dolium convert --to precomputed --shard-size 64KiB --to-spec spec.json large x
ls
