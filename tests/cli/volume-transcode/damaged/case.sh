make_array a.npy 16 8 8 uint16 '7'
dolium volume ingest --no-summary --scales 1 --unsharded --chunk-size 8,8,8 a.npy v
truncate -s 100 v/1_1_1/0-8_0-8_0-8
status dolium volume transcode --sharded --chunk-size 4,4,4 v out
rm -rf out
# Also where chunks are copied as they are.
status dolium volume transcode --sharded v out
for options in "" "--chunk-size 4,4,4"; do
  rm -rf out
  without_sizes status dolium volume transcode --sharded --skip-damaged $options v out
  dolium volume cutout --no-summary --force --box 6:10,0:1,0:1 out -o row.raw && numbers row.raw uint16
done
dolium verify out > /dev/null && echo good
status dolium volume transcode --sharded --skip-damaged --json --force v out 2>&1 | grep -o '"skipped":1'
