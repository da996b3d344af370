make_set set 8
status dolium cat set 8
status dolium cat --json set 8
status dolium cat set/0.shard 3
