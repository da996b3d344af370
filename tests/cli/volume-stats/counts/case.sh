make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,2 --scales 1 a.npy v
dolium volume stats v
dolium volume stats --json v > a
dolium stats --json v | cmp - a && echo the same
