# Verbs that read sets, and imports, take what comes through a pipe.
make_pack a.shardpack 3
cat a.shardpack | shardpack ls -
shardpack ls - < a.shardpack
cat a.shardpack | shardpack cat - s0001 meta.json; echo
cat a.shardpack | shardpack export --to webdataset - a.tar
cat a.tar | shardpack import --from webdataset - b.shardpack
shardpack diff a.shardpack b.shardpack
cat a.shardpack | shardpack diff - b.shardpack
cat a.shardpack | shardpack extract - -o files
status shardpack diff - - < /dev/null
head -c 300 a.shardpack | status shardpack ls -
