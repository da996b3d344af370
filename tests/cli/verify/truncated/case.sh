make_set set 8
truncate -s -10 set/1.shard
dolium verify -j 1 set
