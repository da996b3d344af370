make_array a.npy 64 64 8 uint8 '(x + y) % 100'
dolium volume ingest --no-summary --scales 1 --chunk-size 4,4,4 a.npy v
scales() { dolium volume info --json v | python3 -c 'import json, sys; print([s["key"] for s in json.load(sys.stdin)["scales"]])'; }
without_sizes dolium volume downsample --scales 3 v
scales
without_sizes dolium volume downsample --scales 3 v
without_sizes dolium volume downsample --scales 2 v
without_sizes dolium volume downsample --scales 4 --from 0 v
scales
