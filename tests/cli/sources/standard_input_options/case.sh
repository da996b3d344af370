# Options that would do nothing are refused.
store="$CASE/../../../../src/dolium/formats/xet/testdata/good"
shard=$(ls "$store"/shards/*.mdb | head -1)
dolium verify - < "$shard" > good.txt && echo good
status dolium verify --xorbs "$store/xorbs" - < "$shard"
status dolium ls --format xet - < "$shard"
status dolium info --format xet - < "$shard"
