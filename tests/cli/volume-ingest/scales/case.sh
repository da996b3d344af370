make_array a.npy 16 16 4 uint8 '16 * y + x'
without_sizes dolium volume ingest --resolution 4,4,16 --chunk-size 4,4,4 a.npy v
dolium volume info v
without_sizes dolium volume ingest --chunk-size 4,4,4 --scales 2 --factor 4,4,1 --method stride a.npy w
dolium volume info --json w | python3 -c '
import json, sys
print(*(scale["key"] for scale in json.load(sys.stdin)["scales"]))'
dolium volume cutout --no-summary --scale 1 --box :,:,0:1 w -o b.raw
numbers b.raw uint8
