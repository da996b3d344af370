make_set set 8
serve
at_url dolium verify $url/set/1.shard
truncate -s -10 set/1.shard
at_url dolium verify $url/set/1.shard
