make_samples in 10
shardpack create -i in -o train-000000.shardpack --shard-records 4
ls *.shardpack
shardpack create --json --reproducible -i in -o by-size-07.shardpack --shard-size 900
shardpack ls --keys-only 'train-{000000..000002}.shardpack' | tr '\n' ' '; echo
# A smaller set beside the rest of a larger one is reported.
shardpack create --force -i in -o train-000000.shardpack --shard-records 5
ls *.shardpack
# Another set of that name, or a part of one, is in the way.
status shardpack create -i in -o train-000000.shardpack --shard-records 5
rm train-000000.shardpack
status shardpack create -i in -o train-000000.shardpack --shard-records 5
