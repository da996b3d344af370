shardpack create --help
