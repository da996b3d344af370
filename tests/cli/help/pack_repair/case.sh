shardpack repair --help
