make_array a.npy 8 8 8 uint64 'x // 4'
dolium volume ingest --no-summary --type segmentation a.npy seg
status dolium skeleton ls seg
make_swc swc 3 1
dolium skeleton import --no-summary swc seg/lines --register
dolium skeleton ls --json seg
status dolium skeleton ls swc
