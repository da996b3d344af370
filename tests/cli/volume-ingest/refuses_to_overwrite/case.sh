make_array a.npy 4 4 4 uint8 'x'
make_array b.npy 4 4 4 uint8 'y'
dolium volume ingest --no-summary a.npy v
status dolium volume ingest b.npy v
status dolium volume ingest --json b.npy v
without_sizes dolium volume ingest --force b.npy v
dolium volume cutout --no-summary v -o c.npy
cmp b.npy c.npy && echo the same
ls -A
