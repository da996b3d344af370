shardpack extract --help
