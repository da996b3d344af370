# A file by its hash, through the xorbs; a chunk by number and by hash.
cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
hello=a9dae0ad88b060bdd7e7c87abdcf95b132c95a0414b06d4f6beb68d287b87165
pattern=75bdb7240fdec257a1b2ce3f726735b1dfb1f65d700031d839d695fcb1b2ea00
dolium cat store/shards/*.mdb $hello && echo
dolium cat store/shards $pattern | sha256sum
dolium cat -o out store/shards $pattern
sha256sum <out
status dolium cat -o out store/shards $pattern
dolium cat store/xorbs/default.* 0 | sha256sum
dolium cat store/xorbs/default.* d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb && echo
status dolium cat store/shards 5
status dolium cat store/shards d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb
mv store/xorbs elsewhere
status dolium cat store/shards $hello
dolium cat --xorbs elsewhere store/shards $hello && echo
