make_pack a.shardpack 3
head -c 300 a.shardpack > short.shardpack
echo no shard at all, really, although it has quite a few bytes in it for one line > text.shardpack
mkdir empty
status shardpack info missing.shardpack
status shardpack info short.shardpack
status shardpack info text.shardpack
status shardpack info empty
status shardpack info 'x-{0..'
status shardpack info --json missing.shardpack
status shardpack info
