make_set set 8
serve
at_url dolium info $url/set
at_url dolium info --json $url/set/1.shard
