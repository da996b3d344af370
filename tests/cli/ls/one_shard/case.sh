make_set set 8
dolium ls -l set/1.shard
