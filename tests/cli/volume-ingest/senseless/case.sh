make_array a.npy 4 4 4 uint8 'x'
make_array a.raw 4 4 4 uint8 'x'
ingest() { status dolium volume ingest "$@" v; }
ingest --resolution 8,8 a.npy
ingest --resolution 8,0,8 a.npy
ingest --chunk-size 64,64,0 a.npy
ingest --offset 1.5,2,3 a.npy
ingest --encoding zip a.npy
ingest --quality 80 a.npy
ingest --encoding jpeg --quality 101 a.npy
ingest --encoding jpeg --png-level 3 a.npy
ingest --encoding compressed_segmentation a.npy
ingest --unsharded --shard-size 1GB a.npy
ingest --scales 0 a.npy
ingest --factor 2,2,9 a.npy
ingest a.raw
ingest --shape 4,4,4 a.raw
ingest --shape 4,4,5 --dtype uint8 a.raw
ingest --c-order a.npy
ingest missing.npy
ls -A
