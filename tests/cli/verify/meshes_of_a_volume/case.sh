make_array a.npy 8 8 8 uint64 'x // 4'
dolium volume ingest --no-summary --type segmentation a.npy seg
make_objects obj 1 5 17
dolium mesh import --no-summary --from obj --register obj seg/mesh
dolium verify seg
rm seg/mesh/5
printf 'short' > seg/mesh/17.index
status dolium verify seg
status dolium verify --quick seg
rm -r seg/mesh
dolium mesh import --no-summary --from obj --legacy obj seg/mesh
rm seg/mesh/5:0:0
status dolium verify --json seg | sed 's/"bytes_read":[0-9]*/"bytes_read":BYTES/'
