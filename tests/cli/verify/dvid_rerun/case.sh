# An export into a folder that has one: DVID appends to its files.
make_export e
cat e/s1/0_0_0.arrow e/s1/0_0_0.arrow > twice
mv twice e/s1/0_0_0.arrow
status without_sizes dolium verify e
dolium ls --skip-damaged e/s1
status dolium convert --to precomputed e v
without_sizes dolium convert --skip-damaged --to precomputed e v
