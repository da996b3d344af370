make_array a.npy 12 10 8 uint32 'x // 4 + 100 * z'
dolium volume ingest --no-summary --chunk-size 4,4,4 a.npy v
serve
at_url dolium volume info $url/v
at_url dolium volume cutout --box 3:9,2:10,0:8 precomputed://$url/v -o b.npy
dolium volume cutout --no-summary --box 3:9,2:10,0:8 v -o c.npy
cmp b.npy c.npy && echo the same
at_url dolium volume transcode --no-summary $url/v w
at_url dolium volume info $url/missing
