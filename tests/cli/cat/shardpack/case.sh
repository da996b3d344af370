cp "$CASE/../../../../src/dolium/formats/shardpack/testdata/good/example.shardpack" a.shardpack
dolium cat a.shardpack images17/image194/meta.json
echo
status dolium cat a.shardpack images17/image194/nothing
status dolium cat a.shardpack nothing
