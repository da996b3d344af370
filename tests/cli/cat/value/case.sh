make_set set 8
dolium cat set 2
dolium cat set/1.shard 3
