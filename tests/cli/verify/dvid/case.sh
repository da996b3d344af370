# Good; then a byte of a block, and an index that lies.
make_export e
without_sizes dolium verify e
cp -r e bad
overwrite bad/s1/0_0_0.arrow 1500 '\377\377\377\377'
status without_sizes dolium verify bad
sed -i 's/^1,0,0,/1,0,9,/' e/s0/0_0_0.csv
status without_sizes dolium verify e
