make_set set 8
serve
at_url dolium ls --json $url/set/1.shard
at_url dolium ls precomputed://$url/set
