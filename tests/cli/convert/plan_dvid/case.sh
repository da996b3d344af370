# Tasks of a DVID export are done in any process; the same command completes it.
make_export e
dolium convert --to dvid --shard-side 64 --plan e.volume x > tasks
wc -l < tasks
head -n 3 tasks | dolium task
without_sizes dolium convert --to dvid --shard-side 64 e.volume x
ls -A x
