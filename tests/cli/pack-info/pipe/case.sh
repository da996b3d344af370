# A shard that comes through a pipe has the name `-`.
make_pack a.shardpack 3
for verb in info stats; do
  cat a.shardpack | shardpack $verb --json - | python3 -c '
import json, sys
line = json.load(sys.stdin)
print(line["records"], line["shards"][0]["shard"])'
done
printf nothing | status shardpack info -
cat a.shardpack | status shardpack catalog -
