make_array a.npy 16 16 4 uint8 'x + y'
without_sizes dolium volume ingest --chunk-size 4,4,4 a.npy v
without_sizes dolium volume transcode --scale 1,2 --shard-size 256 v w
dolium volume info w
status dolium volume transcode --scale 7 v x
status dolium volume transcode --scale coarse v x
status dolium volume transcode v w
status dolium volume transcode v v
status dolium volume transcode missing x
without_sizes dolium volume transcode --force --scale 2 --json v w
ls -A
