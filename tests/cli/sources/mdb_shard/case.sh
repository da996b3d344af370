cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
dolium info store/shards/*.mdb
dolium ls store/shards/*.mdb
dolium stats store/shards/*.mdb | head -4
dolium verify store/shards/*.mdb
