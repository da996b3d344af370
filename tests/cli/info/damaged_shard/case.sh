# A file whose index cannot be read is not described as if it were empty.
store="$CASE/../../../../src/dolium/formats/xet/testdata/good"
head -c 200 "$(ls "$store"/shards/*.mdb | head -1)" > short.mdb
dolium info short.mdb
