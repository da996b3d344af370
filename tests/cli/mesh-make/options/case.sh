# A scale, labels of a file, no small ones; another folder, and what was chosen as JSON.
make_array a.npy 40 40 10 uint64 '(x // 8 + 1) * 2**40 if y < 30 else 5 if x == y == z + 30 else 0'
dolium volume ingest --no-summary --type segmentation --resolution 8,8,30 --scales 2 --factor 2,2,1 a.npy v
without_sizes dolium mesh make --scale 16,16,30 --lods 2 --error 12.5 --bits 10 v by-resolution
without_sizes dolium mesh make --json v chosen
printf '5, 1099511627776\n77\n' > ids
without_sizes dolium mesh make -s 0 --segments ids v some
dolium mesh make -s 0 --segments ids --min-voxels 11 --open --no-summary v large
(cd some && echo *)
(cd large && echo *)
grep -c '"mesh"' v/info
