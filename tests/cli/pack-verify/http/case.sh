make_samples in 10
shardpack create --no-summary --reproducible -i in -o t-0.shardpack --shard-records 4
shardpack catalog --no-summary .
serve
at_url shardpack verify "$url/t-{0..2}.shardpack"
at_url shardpack ls -l --range 3:6 $url/catalog.json
at_url shardpack cat $url/catalog.json s0007 meta.json
at_url shardpack cat $url/t-9.shardpack s0007 meta.json
