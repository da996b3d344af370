make_set set 8
serve
at_url dolium convert --to files $url/set/1.shard back
ls back
at_url dolium convert --to files set $url/target
