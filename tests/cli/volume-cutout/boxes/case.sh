make_array a.npy 10 6 4 uint16 '1000 * z + 100 * y + x'
dolium volume ingest --no-summary --offset -4,0,100 --chunk-size 4,4,2 --resolution 8,8,40 a.npy v
cut() { dolium volume cutout --force "$@" v -o out.raw && numbers out.raw uint16; }
cut --box -4:0,0:1,100:101
cut --box=-2:2,3:5,101:103
cut --box 4:,5:,:101
cut --scale 1 --box :,:1,100:101
cut --scale 16,16,40 --box :,:1,100:101
# Page by page gives the same.
dolium volume cutout --no-summary --memory 120 v -o pages.npy
cmp a.npy pages.npy && echo the same
