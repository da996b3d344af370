dolium cas init store
export DOLIUM_STORE=store TZ=UTC
for i in 1 2 3 4; do echo $i > file; dolium cas put --no-summary --host box file; done
echo 5 > file; dolium cas put --no-summary --host box --tag keep --tag other file
times() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(\.[0-9]+)?Z?/TIME/'; }
status dolium cas forget
status dolium cas forget --keep-last 0
status dolium cas forget --keep-last 1 none
dolium cas forget --dry-run --keep-last 2 --keep-yearly 1 file | times
dolium cas forget --keep-last 3 --tag keep,other | times
dolium cas forget --json --keep-last 3 --host box | times
dolium cas log --json | python3 -c '
import json, sys
for version in map(json.loads, sys.stdin): print(version["sequence"], version["host"], version["tags"])'
dolium cas log --tag keep | times
status dolium cas log --tag a,
status dolium cas put --tag 'a,b' file
