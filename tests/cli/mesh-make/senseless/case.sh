# Requests that make no sense.
make_array a.npy 4 4 4 uint8 'x'
dolium volume ingest --no-summary --type segmentation a.npy v
status dolium mesh make v m --bits 12
status dolium mesh make v m --error -3
status dolium mesh make v m --error far
status dolium mesh make v m --lods 0
status dolium mesh make v m --scale 5
echo 'five' > ids
status dolium mesh make v m --segments ids
status dolium mesh make nowhere m
status dolium mesh make v v/..
ls
