# Each shard is a task; the same command completes the set.
make_pack a.shardpack 10
shardpack reshard --reproducible --no-summary a.shardpack --shards 3 -o whole-0.shardpack
shardpack reshard --reproducible --plan a.shardpack --shards 3 -o t-0.shardpack > tasks
wc -l < tasks
head -2 tasks | dolium task
ls t-*
shardpack reshard --reproducible --plan a.shardpack --shards 3 -o t-0.shardpack | wc -l
# Another request does not touch it.
status shardpack reshard a.shardpack --shards 2 -o t-0.shardpack
shardpack reshard --reproducible a.shardpack --shards 3 -o t-0.shardpack | sed -E 's/[0-9.]+ k?B/SIZE/g'
cat whole-* | cmp - <(cat t-*) && echo the same
ls -A | grep -v files
status dolium task "$(head -1 tasks)" 2>&1 | sed "s|$PWD|HERE|"
status shardpack sort --plan missing.shardpack -o x.shardpack
