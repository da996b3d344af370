shardpack merge --help
