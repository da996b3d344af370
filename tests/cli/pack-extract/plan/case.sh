# So many samples are a task; the same command completes the files. Those of others stay.
make_pack a.shardpack 10
mkdir out && echo other > out/other
shardpack export --to folder --manifest --shard-records 4 --plan a.shardpack out > tasks
wc -l < tasks
tail -2 tasks | dolium task
ls out | sed -E 's/[0-9a-f]{16}/DIGITS/'
shardpack export --to folder --manifest --shard-records 4 a.shardpack out
ls -A out
diff -r a.shardpack.files out
wc -l < out/manifest.jsonl
shardpack extract --plan --prefix s0001 a.shardpack -o one | dolium task
shardpack extract --prefix s0001 a.shardpack -o one
find one -type f | sort
# A part is known beforehand only where files go to a folder.
status shardpack export --to mds --plan a.shardpack mds
