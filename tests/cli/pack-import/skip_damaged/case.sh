# What is damaged is left out on request, each with a line, and the exit status is 1.
printf '{"id": 1}\nnothing\n{"id": 2}\n{"id": \n' > in.jsonl
status shardpack import --from jsonl in.jsonl a.shardpack
status shardpack import --from jsonl --skip-damaged in.jsonl a.shardpack
shardpack ls --keys-only a.shardpack
shardpack verify a.shardpack
status shardpack import --from jsonl --skip-damaged --shard-records 1 --json in.jsonl b-0.shardpack
