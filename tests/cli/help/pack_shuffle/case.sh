shardpack shuffle --help
