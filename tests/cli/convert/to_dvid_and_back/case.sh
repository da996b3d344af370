# Voxels survive the way through an export, in both layouts.
make_export e
dolium volume cutout --no-summary e.volume -o a.npy
for layout in stream seed; do
  without_sizes dolium convert --to dvid --layout $layout --shard-side 64 e.volume x-$layout
  without_sizes dolium convert --to precomputed x-$layout v-$layout
  dolium volume cutout --force --no-summary --box 0:130,0:70,0:40 v-$layout -o b.npy
  cmp a.npy b.npy && echo same
done
head -3 x-stream/s0/0_0_0.csv | cut -d, -f1-4
dolium convert --no-summary --to dvid --csv dvid e.volume x-dvid
head -3 x-dvid/s0/0_0_0.csv | cut -d, -f1-4
status dolium convert --to dvid e.volume x-dvid
without_sizes dolium convert --force --to dvid e.volume x-dvid
