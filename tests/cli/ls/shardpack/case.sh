cp "$CASE/../../../../src/dolium/formats/shardpack/testdata/good/example.shardpack" a.shardpack
dolium ls a.shardpack
dolium ls -l a.shardpack
