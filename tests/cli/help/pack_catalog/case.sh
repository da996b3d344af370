shardpack catalog --help
