make_array a.npy 32 32 16 uint8 '(x * y + z) % 200'
dolium volume ingest --no-summary --scales 1 --chunk-size 4,4,4 --shard-size 512 a.npy v
# A downsampling that does not come to its end.
dolium volume downsample --plan --scales 3 --shard-size 512 v > tasks
head -n 2 tasks | dolium task
status dolium volume downsample --scales 2 v
status dolium volume downsample --scales 2 --factor 4,4,4 --force --no-summary v
dolium volume info --json v | python3 -c 'import json, sys; print([s["key"] for s in json.load(sys.stdin)["scales"]])'
ls -A v
# Its tasks have nothing to do any more.
status dolium task "$(sed -n 3p tasks)"
ls -A v
