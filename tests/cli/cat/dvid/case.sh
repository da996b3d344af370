# A block as bytes, as stored, and as voxels.
make_export e
dolium cat e s0/0_0_0 | head -c 16 | od -An -tu4
dolium cat --raw e s0/0_0_0 | head -c 4 | od -An -tx1
dolium cat --voxels labels e s0/1_0_0 | head -c 96 | od -An -tu8 -w32
dolium cat --voxels supervoxels -o block.npy e s0/1_0_0
head -c 128 block.npy | tr -d '\223\0' | tail -c +4 | tr -s ' '
numbers block.npy uint64 | cut -d' ' -f1-8
status dolium cat e s0/7_0_0
status dolium cat e 0_0_0
make_files f 1
status dolium cat --voxels labels f 0
status dolium cat --npy e s0/0_0_0
status dolium cat --raw --voxels labels e s0/0_0_0
