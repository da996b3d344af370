make_array a.npy 40 12 12 uint32 '7 if 2 <= y < 6 and 2 <= z < 6 and 2 <= x < 38 else 0'
dolium volume ingest --no-summary --type segmentation --scales 1 --chunk-size 16,16,16 --resolution 50,50,50 a.npy v
dolium skeleton make --plan --min-voxels 100 --memory 1000000 v w > tasks
grep -c . tasks
while read -r task; do dolium task "$task" > task.out || cat task.out; done < tasks
without_sizes dolium skeleton make --min-voxels 100 v w
dolium ls w
