# Meshes become those of the volume; a second time they are in the way.
make_array a.npy 20 20 20 uint32 '7 if x < 10 else 9 if 4 < y < 8 else 0'
dolium volume ingest --no-summary --type segmentation --resolution 8,8,8 --scales 1 a.npy v
without_sizes dolium mesh make v
grep mesh v/info
(cd v/mesh && echo *)
status dolium mesh make v
without_sizes dolium mesh make --force --sharded --no-summary v
(cd v/mesh && echo *)
dolium ls v/mesh
dolium verify --no-summary v && echo good
