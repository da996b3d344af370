shardpack info --help
