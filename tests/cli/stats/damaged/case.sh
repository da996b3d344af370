make_set set 8
overwrite set/0.shard 8 '\377\377\377\000'
dolium stats set
