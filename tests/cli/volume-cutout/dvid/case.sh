# An export is a volume to those who read.
make_export e
dolium volume cutout --box 0:130,0:70,0:40 e -o a.npy
cmp a.npy e.npy && echo same
dolium volume cutout --no-summary --supervoxels --scale 1 --box 0:1,0:1,0:1 e -o a.raw
od -An -tu8 a.raw
status dolium volume downsample e
