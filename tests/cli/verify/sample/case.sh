make_set set 200
read_of() { python3 -c 'import json, sys; print(json.loads(sys.stdin.readlines()[-1])["entries_read"])'; }
part=$(dolium verify --json --seed 1 --sample 25% set | read_of)
((part > 20 && part < 90)) && echo a part
again=$(dolium verify --json --seed 1 --sample 25% set | read_of)
[ "$part" = "$again" ] && echo the same part
count=$(dolium verify --json --seed 1 --sample 50 set | read_of)
[ "$part" = "$count" ] && echo the same by number
dolium verify --json --sample 1000 set | read_of
