make_array a.raw 8 8 6 uint8 'x'
status dolium volume ingest --type segmentation --shape 8,8,2,3 --dtype uint8 a.raw v
status dolium volume ingest --type segmentation --shape 8,8,6 --dtype uint8 --to-dtype float32 a.raw v
ls -A
