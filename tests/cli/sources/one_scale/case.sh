# A scale of a volume by itself, in shards and in files.
make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --encoding raw --chunk-size 4,4,4 --scales 1 a.npy sharded
dolium volume ingest --no-summary --encoding raw --chunk-size 4,4,4 --scales 1 --unsharded a.npy files
for volume in sharded files; do
  for verb in info ls; do dolium $verb $volume/1_1_1; done
  dolium stats $volume/1_1_1 | head -2
  without_sizes dolium verify $volume/1_1_1
done
