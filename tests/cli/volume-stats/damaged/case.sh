# What statistics say of damaged volumes.
make_array a.npy 16 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --gzip --chunk-size 4,4,4 --scales 1 a.npy f
overwrite f/1_1_1/4-8_0-4_0-4.gz 12 XXXX
dolium volume ingest --no-summary --chunk-size 4,4,4 --scales 1 a.npy v
head -c 10 v/1_1_1/0.shard > cut && mv cut v/1_1_1/0.shard
for volume in f v; do
  status dolium volume stats $volume
  status dolium volume stats --skip-damaged $volume
  status dolium stats --skip-damaged $volume
done
