make_array a.npy 16 16 8 uint8 '(x + y) % 100'
make_array b.npy 16 16 8 uint8 '200'
without_sizes dolium volume ingest --chunk-size 4,4,4 a.npy v
dolium volume ingest --no-summary --scales 1 --chunk-size 4,4,4 b.npy w
# An edit of the finest scale.
cp w/1_1_1/* v/1_1_1
without_sizes dolium volume downsample v
dolium volume cutout --no-summary --scale 1 --box 0:4,0:1,0:1 v -o row.raw && numbers row.raw uint8
without_sizes dolium volume downsample --rebuild v
for scale in 1 2; do
  dolium volume cutout --no-summary --force --scale $scale --box 0:4,0:1,0:1 v -o row.raw
  numbers row.raw uint8
done
ls -A v
dolium verify v > /dev/null && echo good
# As tasks, elsewhere.
dolium volume downsample --rebuild --method stride --plan v > tasks
wc -l < tasks
dolium task < tasks
without_sizes dolium volume downsample --rebuild --method stride --json v
ls -A v
status dolium volume downsample --rebuild --scales 2 v
status dolium volume downsample --rebuild --encoding png v
status dolium volume downsample --rebuild w
