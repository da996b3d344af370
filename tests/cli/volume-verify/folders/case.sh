# Folders in the place of chunks and of shards are damage, and not absence.
make_array a.npy 16 8 8 uint16 '7'
dolium volume ingest --no-summary --scales 1 --unsharded --chunk-size 8,8,8 a.npy files
dolium volume ingest --no-summary --scales 1 --chunk-size 8,8,8 --shard-size 1k a.npy shards
rm files/1_1_1/0-8_0-8_0-8 shards/1_1_1/0.shard
mkdir files/1_1_1/0-8_0-8_0-8 shards/1_1_1/0.shard
for v in files shards; do
  status dolium verify $v > /dev/null
  status dolium volume cutout --no-summary $v -o $v.raw
  status dolium volume transcode --chunk-size 4,4,4 $v $v-out
  without_sizes status dolium volume transcode --chunk-size 4,4,4 --skip-damaged $v $v-out
done
rmdir files/1_1_1/0-8_0-8_0-8
mkdir files/1_1_1/0-8_0-8_0-8.gz
status dolium verify files > /dev/null
