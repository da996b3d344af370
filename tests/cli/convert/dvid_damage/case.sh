# Lists that are not those of their block, and blocks in the wrong file.
make_export e
cp -r e bad
overwrite bad/s0/0_0_0.arrow 1400 '\377\377\377\377'
status dolium convert --to precomputed bad v
status dolium convert --to dvid bad x
status without_sizes dolium convert --skip-damaged --to precomputed bad v-saved
dolium volume cutout --no-summary --box 63:65,0:1,0:1 v-saved -o a.raw
numbers a.raw uint64
status without_sizes dolium convert --json --skip-damaged --to dvid bad x-saved
status dolium volume cutout --no-summary bad -o b.raw
without_sizes dolium volume cutout --skip-damaged bad -o b.raw
dolium volume preview --skip-damaged bad -o b.png
status without_sizes dolium volume transcode --skip-damaged bad v-copied

for name in 128_0_0.arrow 128_0_0.csv; do mv e/s0/$name e/s0/256${name#128}; done
status dolium convert --to precomputed e w
without_sizes dolium convert --skip-damaged --to precomputed e w
dolium volume cutout --no-summary --box 0:130,0:70,0:40 w -o c.npy
cmp c.npy e.npy && echo same
