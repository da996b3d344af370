# A set of samples behind a server: by its catalog, or by one of its shards.
make_samples in 4
mkdir set
shardpack create --no-summary --reproducible --shard-records 2 --input in --output set/t-000000.shardpack
shardpack catalog --no-summary set
serve
at_url shardpack ls "$url/set/catalog.json"
at_url shardpack ls "$url/set/t-{000000..000001}.shardpack"
at_url dolium info "$url/set/t-000001.shardpack"
at_url dolium ls "$url/set/t-000001.shardpack"
at_url dolium stats "$url/set/t-000001.shardpack" | head -3
at_url dolium verify "$url/set/t-000001.shardpack"
at_url dolium ls "$url/set"
