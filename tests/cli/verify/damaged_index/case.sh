make_set set 8
overwrite set/0.shard 8 '\377\377\377\000'
status dolium verify -j 1 set
status dolium verify -j 1 --json set
