make_pack a.shardpack 4
size=$(stat -c %s a.shardpack)
status shardpack verify - < a.shardpack
cat a.shardpack | shardpack verify --no-summary - && echo good
head -c 600 a.shardpack | status shardpack verify -
head -c $((size - 1)) a.shardpack | status shardpack verify -
head -c 0 a.shardpack | status shardpack verify -
echo no shard at all | status shardpack verify --json -
cp a.shardpack b.shardpack; overwrite b.shardpack $(($(record_offset b.shardpack 1) + 104)) 'XX'
status shardpack verify - < b.shardpack
# A dictionary comes before what needs it.
make_pack d.shardpack 40 --compression zstd --dictionary 1KiB
cat d.shardpack | shardpack verify --no-summary - && echo good
