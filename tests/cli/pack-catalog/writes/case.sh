mkdir data
make_samples in 10
shardpack create --no-summary --reproducible -i in -o data/t-0.shardpack --shard-records 4
shardpack catalog data
cat data/catalog.json
shardpack ls --keys-only data/catalog.json | tail -1
status shardpack catalog data
shardpack catalog --force --json data/t-0.shardpack
shardpack catalog -o - 'data/t-{0..1}.shardpack'
status shardpack catalog -o other/catalog.json data
status shardpack catalog missing
