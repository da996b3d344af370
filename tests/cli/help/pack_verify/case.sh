shardpack verify --help
