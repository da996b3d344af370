# A thin label on a background of zeros.
make_array a.npy 8 2 2 uint64 '5 if y == 0 and z == 0 else 0'
ingest() { dolium volume ingest --no-summary --scales 1 --chunk-size 4,2,2 a.npy "$1"; }
row() { dolium volume cutout --no-summary --force --scale 1 "$1" -o row.raw; numbers row.raw uint64; }
ingest v
dolium volume downsample --no-summary --factor 2,2,2 v
row v
ingest w
dolium volume downsample --no-summary --factor 2,2,2 --ignore-zero w
row w
ingest u
dolium volume downsample --no-summary --factor 2,2,2 --method stride u
row u
