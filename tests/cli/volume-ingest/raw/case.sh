make_array a.raw 6 5 4 uint32 '7 * z + x // 3'
without_sizes dolium volume ingest --shape 6,5,4 --dtype uint32 --scales 1 a.raw v
dolium volume info v
dolium volume cutout --no-summary v -o b.raw
cmp a.raw b.raw && echo the same
# The same numbers as a C array of z, y, x, behind a head of four bytes.
{ printf head; cat a.raw; } > c.bin
without_sizes dolium volume ingest --shape 4,5,6 --axes zyx --c-order --skip 4 --dtype uint32 --scales 1 c.bin w
dolium volume cutout --no-summary w -o d.raw
cmp a.raw d.raw && echo the same
