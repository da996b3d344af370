make_pack a.shardpack 10
shardpack shuffle --no-summary --reproducible a.shardpack --seed 5 -o mixed.shardpack
shardpack ls --keys-only mixed.shardpack | tr '\n' ' '; echo
shardpack sort --no-summary --reproducible mixed.shardpack -o sorted.shardpack
cmp a.shardpack sorted.shardpack && echo the same
shardpack sort mixed.shardpack --shard-records 4 -o part-0.shardpack
shardpack info 'part-*.shardpack' | grep keys
# In its own place.
shardpack sort --no-summary --reproducible --force mixed.shardpack -o mixed.shardpack
cmp a.shardpack mixed.shardpack && echo the same
status shardpack sort missing.shardpack -o x.shardpack
