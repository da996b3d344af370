shardpack view --help
