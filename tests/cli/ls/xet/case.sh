cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
dolium ls store/shards
dolium ls -l store/shards/*.mdb
dolium ls store/xorbs/default.*
mv store/xorbs elsewhere
dolium ls --json store/shards | cut -c 1-100
dolium ls -l --xorbs elsewhere store/shards
