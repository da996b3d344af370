make_array a.npy 8 4 4 uint8 'x'
dolium volume ingest --no-summary --scales 1 --resolution 8,8,40 a.npy v
cut() { status dolium volume cutout "$@" -o out.npy; }
cut --box 0:9,0:4,0:4 v
cut --box -1:4,0:4,0:4 v
cut --box 4:4,0:4,0:4 v
cut --box 0:4,0:4 v
cut --box 0-4,0:4,0:4 v
cut --scale 1 v
cut --scale 16,16,40 v
cut --scale fine v
cut --memory 31 v
cut missing
cut .
ls
