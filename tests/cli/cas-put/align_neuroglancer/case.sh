dolium cas init store
export DOLIUM_STORE=store
make_set set 12
dolium cas put --json --name plain set | grep -o '"files":[0-9]*.*"chunks":[0-9]*'
dolium cas put --json --name aligned --align-entries set | grep -o '"files":[0-9]*.*"chunks":[0-9]*'
printf 'another value' > value
dolium put --force set 3 value
dolium cas put --json --name aligned --align-entries set |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["new_chunks"] < 8)'
dolium cas get --no-summary aligned -o out && diff -r set out
