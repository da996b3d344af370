shardpack diff --help
