make_pack a.shardpack 3
shardpack export --no-summary --to lmdb a.shardpack a.lmdb
shardpack import --no-summary --from lmdb --group-by dir a.lmdb b.shardpack
shardpack diff a.shardpack b.shardpack
mkdir -p nested/a/x && echo 1 > nested/a/w && echo 2 > nested/a/z && echo 3 > nested/a/x/q
shardpack create --no-summary --group-by dir -i nested -o n.shardpack
status shardpack export --to lmdb n.shardpack n.lmdb
ls n.lmdb
