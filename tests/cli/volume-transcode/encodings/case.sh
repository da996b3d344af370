make_array a.npy 12 10 8 uint64 '1 + x // 5 + 10 * (y // 4) + 2**40 * (z // 3)'
without_sizes dolium volume ingest --chunk-size 8,8,8 --scales 1 a.npy v
same() { dolium volume cutout --no-summary --force "$1" -o b.npy; cmp a.npy b.npy && echo the same; }
same v
without_sizes dolium volume transcode --encoding raw --chunk-size 4,4,4 --unsharded v raw
ls raw/1_1_1 | wc -l
same raw
without_sizes dolium volume transcode --encoding compresso --sharded raw compresso
same compresso
without_sizes dolium volume transcode --encoding compressed_segmentation --block-size 4,4,2 compresso blocks
dolium volume info blocks
same blocks
