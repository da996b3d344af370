# Damage of a volume: exports go past it with --skip-damaged, and say where it is.
make_array a.npy 256 64 64 uint64 '1 + x'
cat > spec.json << 'END'
{"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 0,
 "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
END
dolium volume ingest --no-summary --scales 1 --chunk-size 64,64,64 --to-spec spec.json --encoding raw a.npy good
ls good/1_1_1
row() {
  dolium volume cutout --no-summary --force --box 126:130,0:1,0:1 "$1" -o row.raw && numbers row.raw uint64
}
for kind in cut pipe minishard; do
  echo "$kind"
  rm -rf v x out
  cp -r good v
  rm v/1_1_1/1.shard
  case $kind in
    cut) head -c 10 good/1_1_1/1.shard > v/1_1_1/1.shard ;;
    pipe) mkfifo v/1_1_1/1.shard ;;
    minishard) cp good/1_1_1/1.shard v/1_1_1/1.shard
      overwrite v/1_1_1/1.shard 12 '\377' ;;
  esac
  status dolium convert --to dvid --shard-side 128 -j 1 v x
  # The same job goes on, and leaves out what is damaged.
  without_sizes status dolium convert --to dvid --shard-side 128 --skip-damaged v x
  row x
  without_sizes status dolium convert --to precomputed --skip-damaged v out
  row out
done
# Chunks in files, too.
dolium volume transcode --no-summary --unsharded --encoding raw --chunk-size 64,32,64 good f
truncate -s 100 f/1_1_1/0-64_0-32_0-64
status dolium convert --to dvid f y
without_sizes status dolium convert --to dvid --skip-damaged f y
without_sizes status dolium convert --to dvid --skip-damaged --json --force f y
dolium volume cutout --no-summary --force --box 0:2,31:33,0:1 y -o row.raw && numbers row.raw uint64
