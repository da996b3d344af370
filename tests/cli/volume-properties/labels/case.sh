make_array a.npy 10 6 4 uint64 '0 if x < 2 else 5 if y < 3 else 9000000000 + z // 2'
dolium volume ingest --no-summary --type segmentation --chunk-size 4,4,4 --scales 2 --factor 2,2,2 a.npy seg
dolium volume properties seg
dolium properties export seg -
status dolium volume properties seg
dolium volume properties --json --scale 1 -o coarse seg
dolium properties export coarse - | head -n 2
make_array i.npy 4 4 4 uint8 x
dolium volume ingest --no-summary --to-dtype float32 i.npy image
status dolium volume properties image
