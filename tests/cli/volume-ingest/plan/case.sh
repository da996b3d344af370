make_array a.npy 16 16 16 uint8 '(x * 7 + y * 3 + z) % 251'
ingest() { dolium volume ingest --chunk-size 4,4,4 --shard-size 512 "$@" a.npy v; }
ingest --plan > tasks
wc -l < tasks
python3 -c '
import json
print([json.loads(line)["stage"] for line in open("tasks")])'
status dolium volume info v
head -n 3 tasks > first
dolium task < first
without_sizes dolium task --json "$(sed -n 4p tasks)"
ingest --plan | wc -l
tail -n +5 tasks | tac | dolium task
ingest --plan | wc -l
without_sizes ingest
dolium volume ingest --chunk-size 4,4,4 --shard-size 512 --no-summary a.npy w
diff -r v w && echo the same
ls -A v
