# What the stock client wrote is good; what is damaged or missing is found and named.
cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
dolium verify --quick store/shards/*.mdb
dolium verify store/shards store/xorbs/default.*
xorb=$(echo store/xorbs/default.*)
printf 'x' | dd of=$xorb bs=1 seek=3000 conv=notrunc status=none
status dolium verify $xorb
status dolium verify store/shards
rm $xorb
status dolium verify store/shards
shard=$(echo store/shards/*.mdb)
printf 'x' | dd of=$shard bs=1 seek=60 conv=notrunc status=none
status dolium verify --quick $shard
