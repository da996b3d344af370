make_array a.npy 8 8 8 uint64 'x // 4'
dolium volume ingest --no-summary --type segmentation a.npy seg
make_objects obj 1
make_swc swc 1
dolium mesh import --no-summary --from obj --register obj seg/meshes
dolium skeleton import --no-summary --register swc seg/lines
dolium mesh ls seg
dolium skeleton ls seg
dolium verify seg
dolium ls seg | grep -v 1_1_1
dolium mesh preview --size 64 seg 1 -o picture.png
dolium mesh preview --size 64 --no-skeleton seg 1 -o alone.png
cmp -s picture.png alone.png || echo with a skeleton
