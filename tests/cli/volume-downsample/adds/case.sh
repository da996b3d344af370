make_array a.npy 8 8 2 uint8 '2 * x + 4 * y'
without_sizes dolium volume ingest --scales 1 --chunk-size 4,4,2 --resolution 4,4,8 a.npy v
without_sizes dolium volume downsample --scales 2 v
without_sizes dolium volume downsample v
without_sizes dolium volume downsample v
without_sizes dolium volume downsample --json v
dolium volume info v
dolium volume cutout --no-summary --scale 1 --box :,0:1,0:1 v -o b.raw
numbers b.raw uint8
