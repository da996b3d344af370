shardpack subset --help
