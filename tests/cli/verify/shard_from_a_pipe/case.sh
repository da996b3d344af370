dolium cas init store
echo text > file
dolium cas put --store store --no-summary file
dolium cas export --store store --no-summary -o x.mdb
cat x.mdb | dolium info -
cat x.mdb | dolium ls -
cat x.mdb | dolium ls -l -
cat x.mdb | dolium ls --json -
cat x.mdb | dolium verify -
cat x.mdb | dolium verify --json -
# A bit of the chunk's hash; the shard as a file says the same.
cp x.mdb bad.mdb
overwrite bad.mdb $((48 + 4 * 48 + 48)) 'X'
cat bad.mdb | status dolium verify -
head -c 300 x.mdb | status dolium verify -
# Terms cannot be followed to xorbs; who asks for it is refused.
status dolium verify --xorbs store/xorbs - < x.mdb
