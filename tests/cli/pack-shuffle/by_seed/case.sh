make_pack a.shardpack 12
for seed in 1 1 2; do
  shardpack shuffle --force --no-summary a.shardpack --seed $seed --shards 2 -o t-0.shardpack
  shardpack ls --keys-only 't-{0..1}.shardpack' | tr '\n' ' '; echo
done
shardpack diff a.shardpack 't-*.shardpack'
