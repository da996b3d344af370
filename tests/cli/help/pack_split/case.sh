shardpack split --help
