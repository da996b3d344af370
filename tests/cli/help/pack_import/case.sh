shardpack import --help
