# The first row of the shard index: the minishard index ends far behind the shard.
make_set set 8
overwrite set/0.shard 8 '\377\377\377\000'
status dolium ls set
status dolium ls --json set > /dev/null
