# Four dimensions: x, y, z, channel.
make_array a.raw 4 3 6 uint8 '10 * z + x'
dolium volume ingest --no-summary --shape 4,3,2,3 --dtype uint8 --type image a.raw v
dolium volume info v
dolium volume cutout v -o b.raw
cmp a.raw b.raw && echo the same
dolium volume cutout --no-summary v -o b.tif
dolium volume ingest --no-summary b.tif w
dolium volume cutout --no-summary w -o c.raw
cmp a.raw c.raw && echo the same
status dolium volume ingest --shape 4,3,2,3 --dtype uint8 --axes xyz a.raw x
