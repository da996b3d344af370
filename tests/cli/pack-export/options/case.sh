make_pack a.shardpack 5
shardpack export --to webdataset --shard-records 2 a.shardpack t.tar
ls *.tar
tar tf $(ls *.tar | head -1)
shardpack export --json --to folder --stem --prefix s0001 a.shardpack out
ls out
status shardpack export --to folder --stem --prefix s0001 a.shardpack out
status shardpack export --to folder a.shardpack
