# Keys are NAME@N/path; a version that is one file has no path.
mkdir -p tree/b
echo one > tree/a
echo two > tree/b/c
dolium cas init store
dolium cas put --store store --no-summary tree
echo three > tree/a
dolium cas put --store store --no-summary tree
dolium cas put --store store --no-summary --name single tree/a
dolium info store
dolium ls store
dolium ls -l store | sed 's|store/xorbs/.*|OBJECT|'
dolium cat store tree@1/a
dolium cat store tree@2/a
dolium cat store single@1
status dolium cat store tree@3/a
dolium stats store | sed -n '2p;/^names/,/^file_bytes/p'
dolium verify --no-summary --quick store
dolium verify store | sed -E 's/ read \([^)]*\)/ read (SIZE)/'
# A byte of a chunk, behind its header: found, with the files that need it.
read -r object offset < <(dolium ls --json store | python3 -c '
import json, sys
for entry in map(json.loads, sys.stdin):
    if entry["key"] == "tree@1/a":
        print(entry["object"], entry["offset"])')
overwrite "$object" $((offset + 9)) 'X'
dolium verify --no-summary store > findings
echo "exit status $?"
grep -c xorbs/ findings
grep -o '^tree@[0-9]: [a-z/]*' findings
status dolium cat store tree@1/a 2> err
grep -o 'chunk has the hash' err
