shardpack reshard --help
