shardpack stats --help
