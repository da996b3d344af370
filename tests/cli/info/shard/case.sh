make_set set 5
dolium info set/1.shard
