shardpack export --help
