# Files with several names, holes and pipes come back as they were.
dolium cas init store
export DOLIUM_STORE=store
mkdir in
echo text > in/a && ln in/a in/b
truncate -s 10M in/sparse && echo end >> in/sparse
mkfifo in/pipe
dolium cas put --no-summary in
dolium cas get --no-summary in -o out
stat -c '%h' out/a
test out/a -ef out/b && echo same
test "$(stat -c %b out/sparse)" -lt 1000 && echo holes
cmp in/sparse out/sparse
dolium cas ls --json in | python3 -c '
import json, sys
for entry in map(json.loads, sys.stdin):
    print(entry["path"], entry["kind"], entry.get("inode"), entry.get("sparse"), "uid" in entry)'
