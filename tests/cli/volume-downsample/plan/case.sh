make_array a.npy 16 16 8 uint8 '(x * y + z) % 200'
dolium volume ingest --no-summary --scales 1 --chunk-size 4,4,4 --shard-size 512 a.npy v
dolium volume downsample --plan --shard-size 512 v > tasks
wc -l < tasks
dolium task < tasks
dolium volume info --json v | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["scales"]))'
without_sizes dolium volume downsample --shard-size 512 v
dolium volume info --json v | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["scales"]))'
