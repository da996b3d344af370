# Two bars, and what is too small.
make_array a.npy 40 12 12 uint32 \
  '(7 if 2 <= y < 6 and 2 <= z < 6 and 2 <= x < 38 else 9 if y > 8 and z > 8 else 3 if x + y + z < 2 else 0)'
dolium volume ingest --no-summary --type segmentation --scales 1 --chunk-size 16,16,16 --resolution 50,50,50 a.npy v
without_sizes dolium skeleton make --min-voxels 100 v
dolium ls v/skeletons
dolium volume info --json v | grep -o '"skeletons": *"[^"]*"'
status dolium skeleton make v
without_sizes dolium skeleton make --sharded --min-voxels 0 --dust 0 --cross-sections v w
dolium ls w
without_sizes dolium skeleton make --json --force --min-voxels 100 --segments - v w <<< '3, 7'
dolium ls w
