make_set set 8
dolium verify set/1.shard
