# Every verb that makes one file sends it to standard output for `-`, whole or not at all;
# its closing line goes to standard error then.
make_pack a.shardpack 3
make_pack b.shardpack 2
mkdir -p in/x && echo one > in/x/1.txt
shardpack create --reproducible -i in -o - | shardpack ls -
shardpack export --to webdataset a.shardpack - | tar -t
shardpack export --to jsonl --no-summary a.shardpack - | wc -l
shardpack export --to tfrecord --gzip a.shardpack - | gzip -t
shardpack export --to webdataset a.shardpack - |
  shardpack import --from webdataset - - > imported.shardpack
shardpack ls imported.shardpack
shardpack merge --reproducible a.shardpack b.shardpack -o - > merged.shardpack
shardpack ls merged.shardpack
shardpack subset --no-summary a.shardpack --range 1:2 -o - | shardpack ls -
shardpack sort --no-summary a.shardpack -o - | shardpack shuffle --no-summary - --seed 1 -o - |
  shardpack reshard --no-summary - --shards 1 -o - | shardpack compact --no-summary - -o - |
  shardpack sort - --json --reproducible -o sorted.shardpack > /dev/null
shardpack diff a.shardpack sorted.shardpack
cat a.shardpack | shardpack repair - - | shardpack ls -
head -c 700 a.shardpack | status shardpack repair --quick - repaired.shardpack

# What is no single file is refused, by name.
status shardpack export --to lmdb a.shardpack -
status shardpack export --to mds a.shardpack -
status shardpack export --to folder a.shardpack -
status shardpack extract a.shardpack -o -
status shardpack split a.shardpack --shards 2 -o -
status shardpack reshard a.shardpack --shard-size 1MB -o -
status shardpack create -i in --plan -o -
status shardpack repair -

# Nothing comes of work that fails; nothing is left in the temporary folder.
mkdir tmp
head -c 900 a.shardpack > cut.shardpack
TMPDIR=$PWD/tmp shardpack merge a.shardpack cut.shardpack -o - > nothing
echo "exit status $?"
wc -c < nothing
TMPDIR=$PWD/tmp shardpack merge --no-summary a.shardpack -o - > something
ls tmp
ls -- - 2> /dev/null || echo no file of that name
