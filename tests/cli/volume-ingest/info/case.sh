make_array a.npy 20 12 9 uint16 'x'
dolium volume ingest --no-summary --resolution 8,8,32.5 --offset 100,-5,7 --chunk-size 8,8,8 --scales 2 a.npy v
python3 -m json.tool --compact v/info
