# The command of the specification, to the letter.
make_samples input_data_directory 3
shardpack create \
    --input input_data_directory \
    --output dataset-train-000000.shardpack \
    --record-size-limit 1GB \
    --compression lz4 \
    --metadata creator="MyName" training="true" > summary
sed -E 's/shard of [0-9.]+ k?B/shard of SIZE/' summary
ls
shardpack info --json dataset-train-000000.shardpack | python3 -c '
import json, sys
shard = json.load(sys.stdin)["shards"][0]
own = shard["metadata"]["shardpack"]
print(shard["records"], own["compression"], own["columns"], shard["metadata"]["user"])'
shardpack verify -q --no-summary dataset-train-000000.shardpack && echo good
# The same under the other name.
dolium pack cat dataset-train-000000.shardpack s0002 text.txt
