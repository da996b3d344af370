# Keys of an export have their scale in front; those of a scale or a shard do not.
make_export e
dolium ls e
dolium ls e/s1
dolium ls --json e/s0/128_0_0.arrow | python3 -c '
import json, sys
for entry in map(json.loads, sys.stdin): print(entry["key"], entry["size"], entry["object"])'
