cp "$CASE/../../../../src/dolium/formats/shardpack/testdata/good/example.shardpack" a.shardpack
status dolium verify a.shardpack
overwrite a.shardpack 258 X  # in {"stereo":true}
status dolium verify a.shardpack
overwrite a.shardpack 312 X  # in the key of the second record
status dolium verify a.shardpack
head -c 600 a.shardpack > cut.shardpack
status dolium verify cut.shardpack
