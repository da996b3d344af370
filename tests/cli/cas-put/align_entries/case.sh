dolium cas init store
export DOLIUM_STORE=store
make_pack old.shardpack 40
make_samples new.files 40
echo "another line" >> new.files/s0002/text.txt
shardpack create --no-summary --reproducible --input new.files --output new.shardpack
for name in old new; do dolium cas put --no-summary --name plain $name.shardpack; done
for name in old new; do dolium cas put --no-summary --align-entries --name aligned $name.shardpack; done
dolium cas log --json | python3 -c '
import json, sys
for version in map(json.loads, sys.stdin):
    print(version["name"], version["sequence"], version["aligned"], version["new_bytes"] * 2 < version["bytes"])'
for name in plain aligned; do dolium cas get --no-summary $name -o out.$name && cmp out.$name new.shardpack; done
dolium cas stats aligned | grep aligned
dolium cas stats --json aligned@1 aligned@2 | python3 -c '
import json, sys
gain = json.load(sys.stdin)
plain = gain["not_aligned"]
print(gain["first"], gain["second"], gain["new_chunks"] < gain["chunks"], plain["new_chunks"] <= plain["chunks"])
print(gain["gain"] == plain["new_bytes"] - gain["new_bytes"], gain["gain"] > 0)'
dolium cas stats aligned@1 aligned@2 | cut -c 1-14
dolium cas stats plain@1 plain@2 | cut -c 1-14
