# Standard input is recognised by its first bytes.
make_pack t.shardpack 2
cat t.shardpack | dolium info -
cat t.shardpack | dolium ls -
cat t.shardpack | dolium ls --json - | head -1
cat t.shardpack | dolium verify -
cat t.shardpack | dolium verify --json -
head -c 200 t.shardpack | status dolium verify -
cp t.shardpack bad.shardpack
overwrite bad.shardpack 120 'XXXX'
cat bad.shardpack | status dolium verify --no-summary - | sed 's/bytes \[.*/.../'
echo 'something else, of many bytes, more than are looked at to see what it may be' | status dolium verify -
status dolium ls - < /dev/null
