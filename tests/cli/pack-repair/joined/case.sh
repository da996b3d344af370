# Shards that were joined, and one that bytes are missing of: all records are looked for.
make_pack a.shardpack 4
make_pack b.shardpack 3
cat a.shardpack b.shardpack > joined.shardpack
status shardpack repair joined.shardpack -o both.shardpack
shardpack verify both.shardpack
at=$(($(record_offset a.shardpack 1) + 100))
{ head -c $at a.shardpack; tail -c +$((at + 41)) a.shardpack; } > hole.shardpack
status shardpack repair hole.shardpack -o kept.shardpack
shardpack ls --keys-only kept.shardpack
