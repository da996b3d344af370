make_array a.npy 10 4 4 uint8 '10 * z + x'
dolium volume ingest --unsharded --chunk-size 8,4,4 --scales 1 a.npy v
ls v/1_1_1
without_sizes dolium volume ingest --unsharded --gzip --chunk-size 8,4,4 --scales 1 --json a.npy w
ls w/1_1_1
dolium volume cutout --no-summary w -o b.npy
cmp a.npy b.npy && echo the same
