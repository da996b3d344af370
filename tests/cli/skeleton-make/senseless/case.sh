make_array a.npy 8 8 8 uint8 x
dolium volume ingest --no-summary --to-dtype float32 --scales 1 a.npy images
status dolium skeleton make images w
make_array b.npy 8 8 8 uint8 '1'
dolium volume ingest --no-summary --type segmentation --scales 1 b.npy seg
status dolium skeleton make --dust few seg w
status dolium skeleton make --scale 3 seg w
echo '1 two' > ids
status dolium skeleton make --segments ids seg w
status dolium skeleton make nothing w
ls
