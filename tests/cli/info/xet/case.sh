cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
dolium info store/shards/*.mdb
dolium info store/xorbs/default.*
dolium info --json store/shards
