make_pack a.shardpack 10 --metadata creator=Me
shardpack split a.shardpack --shards 3 -o three-000000.shardpack
shardpack split a.shardpack --shard-records 4 -o four-0.shardpack
shardpack split --json a.shardpack --shard-size 1kB -o size-0.shardpack
for set in 'three-{000000..000002}.shardpack' 'four-{0..2}.shardpack' 'size-*.shardpack'; do
  shardpack verify --no-summary "$set" && shardpack diff --no-summary a.shardpack "$set" && echo the same
done
shardpack ls -l 'four-{0..2}.shardpack'
shardpack info 'three-{000000..000002}.shardpack' | grep creator
shardpack split --no-summary a.shardpack --shards 20 -o many-00.shardpack
ls many-*
status shardpack split a.shardpack -o x.shardpack
status shardpack split a.shardpack --shards 2
status shardpack split a.shardpack --shards 2 --shard-size 1kB -o x.shardpack
status shardpack split a.shardpack --shards 0 -o x.shardpack
status shardpack split missing.shardpack --shards 2 -o x.shardpack
status shardpack split a.shardpack --shards 3 -o three-000000.shardpack
status shardpack split --force 'three-{000000..000002}.shardpack' --shards 2 -o three-000000.shardpack
