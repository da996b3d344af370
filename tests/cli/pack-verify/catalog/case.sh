# --deep compares the catalog of a set with its shards.
mkdir data
make_samples in 10
shardpack create --no-summary --reproducible -i in -o data/t-0.shardpack --shard-records 4
shardpack catalog --no-summary data
status shardpack verify --deep --no-summary data
status shardpack verify --deep data | tail -2
status dolium verify --deep --no-summary data
make_samples other 5
shardpack create --no-summary --reproducible --force -i other -o other.shardpack
mv data data.old
cp -r data.old data
cp other.shardpack "data/$(ls data | grep shardpack | head -1)"
status shardpack verify --no-summary data
status shardpack verify --deep --no-summary data
status shardpack verify --deep --json data/catalog.json | tail -2
status dolium verify --deep --no-summary data
rm data/t-0-000002.shardpack 2> /dev/null || rm "data/$(ls data | grep shardpack | tail -1)"
status shardpack verify --deep --no-summary data
status shardpack verify --quick --deep data
