make_set set 8
truncate -s 20 set/1.shard
dolium ls set
