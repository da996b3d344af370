shardpack sort --help
