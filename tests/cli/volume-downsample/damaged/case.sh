make_array a.npy 16 8 8 uint8 '7'
dolium volume ingest --no-summary --scales 1 --unsharded --gzip --chunk-size 8,8,8 a.npy v
overwrite v/1_1_1/0-8_0-8_0-8.gz 12 XXXX
status dolium volume downsample --scales 2 v
without_sizes status dolium volume downsample --scales 2 --skip-damaged --force v
ls v/2_2_2
dolium volume cutout --no-summary --scale 1 --box 0:8,0:1,0:1 v -o row.raw && numbers row.raw uint8
