# Scales are made again of what is left of a damaged one.
make_array a.npy 32 8 8 uint16 'x + 1'
cat > spec.json << 'END'
{"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 0,
 "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
END
dolium volume ingest --no-summary --scales 1 --chunk-size 8,8,8 --to-spec spec.json --encoding raw a.npy v
dolium volume downsample --no-summary --scales 3 v
dolium volume ingest --no-summary --scales 1 --unsharded --gzip --chunk-size 8,8,8 a.npy f
dolium volume downsample --no-summary --scales 3 f
head -c 10 v/1_1_1/1.shard > cut && mv cut v/1_1_1/1.shard
overwrite f/1_1_1/0-8_0-8_0-8.gz 12 XXXX
for volume in v f; do
  status dolium volume downsample --rebuild -j 1 $volume
  # The same job goes on.
  without_sizes status dolium volume downsample --rebuild --skip-damaged $volume
  for scale in 1 2; do
    dolium volume cutout --no-summary --force --scale $scale --box 2:6,0:1,0:1 $volume -o row.raw
    numbers row.raw uint16
  done
  ls -A $volume
done
