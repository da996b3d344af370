# A message whose type nobody knows, an index that lies, a stream that was cut, a spec without
# any of the blocks: whatever is left out is named, and the exit status says it.
make_export e
cp -r e bad
overwrite bad/s0/0_0_0.arrow 735 '\011'
rm bad/s0/0_0_0.csv
status without_sizes dolium verify bad
status dolium convert --to precomputed bad v
status without_sizes dolium convert --skip-damaged --to precomputed bad v
status without_sizes dolium convert --skip-damaged --to dvid bad x
status without_sizes dolium volume transcode --skip-damaged bad t
status dolium convert --no-summary --skip-damaged -f dvid --to files bad/s0 f
ls f

cp -r e lies
sed -i 's/,0,\([0-9]*,[0-9]*,0\)$/,7,\1/' lies/s0/0_0_0.csv
status dolium convert --no-summary --skip-damaged -f dvid --to files lies/s0 all
ls all

cp -r e cut
size=$(sed -n 's/^1,1,0,\([0-9]*\),.*/\1/p' cut/s0/0_0_0.csv)
truncate -s "$size" cut/s0/0_0_0.arrow
status dolium verify --no-summary cut/s0
status dolium reindex --force cut
status dolium verify --no-summary cut/s0
status without_sizes dolium convert --skip-damaged --to precomputed cut c

cp -r e far
rm -r far/s0/0_0_0.* far/s1
sed -i 's/\b130\b/64/' far/spec.json
status without_sizes dolium convert --to precomputed far n
