# What a refusal advises is what works.
make_files files 4
head -c 4096 /dev/zero > a.raw
ingest() { dolium volume ingest --no-summary --shape 16,16,16 --dtype uint8 --resolution 4,4,4 "$@" a.raw set; }
# Nothing is made yet: force replaces it.
dolium convert --plan --to neuroglancer --shard-bits 1 files set > tasks
status ingest
status ingest --force
ls set | grep -v info
# With a shard, which is none of a volume: it does not.
rm -r set
dolium convert --plan --to neuroglancer --shard-bits 1 files set > tasks
dolium task < tasks
status ingest
status ingest --force
# The same kind with other parameters: force replaces it.
status dolium convert --no-summary --to neuroglancer --shard-bits 2 files set
status dolium convert --no-summary --force --to neuroglancer --shard-bits 2 files set
dolium verify set
