shardpack compact --help
