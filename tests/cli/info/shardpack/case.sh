cp "$CASE/../../../../src/dolium/formats/shardpack/testdata/good/example.shardpack" a.shardpack
dolium info a.shardpack
mkdir set
cp a.shardpack set/x-000000.shardpack
cp a.shardpack set/x-000001.shardpack
dolium info set
