make_set set 8 --shard-bits 0
ls set
