# A shard loses its index; another export has one that lies, a third is damaged.
make_export e
mkdir kept
cp e/s0/*.csv kept
rm e/s0/0_0_0.csv
dolium info e/s0 | grep index
dolium verify -q --no-summary e/s0
dolium verify --no-summary e/s0
dolium reindex e
cmp e/s0/0_0_0.csv kept/0_0_0.csv
dolium info e/s0 | grep index
dolium verify --no-summary e
# One that lies stays, unless it is to go.
sed -i '/^1,0,0,/d' e/s0/0_0_0.csv
status dolium ls e/s0
dolium reindex --json e
status dolium verify --no-summary e
dolium reindex --force e
cmp e/s0/0_0_0.csv kept/0_0_0.csv
# No index of a damaged shard; none where the format has it elsewhere.
cat e/s1/0_0_0.arrow e/s1/0_0_0.arrow > twice
mv twice e/s1/0_0_0.arrow
rm e/s1/0_0_0.csv
status dolium reindex e
test ! -e e/s1/0_0_0.csv
make_set set 4
status dolium reindex set
