make_array a.npy 20 12 9 uint16 '1000 * z + 20 * y + x'
without_sizes dolium volume ingest --resolution 8,8,40 --offset 100,-5,7 --chunk-size 8,8,8 a.npy v
ls -A v v/*
dolium volume cutout v -o b.npy
cmp a.npy b.npy && echo the same
