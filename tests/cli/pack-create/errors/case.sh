make_samples in 2
create() { status shardpack create "$@"; }
create
create --input in
create --output t.shardpack
create --input missing --output t.shardpack
create --input in --output t.shardpack extra
create --input in --output t.shardpack --record-size-limit 1XB
create --input in --output t.shardpack --compression brotli
create --input in --output t.shardpack --metadata creator
create --input in --output t.shardpack --level 3
create --input in --output t.shardpack --compression lz4 --level 13
create --input in --output t.shardpack --chunk-size 1MiB
create --input in --output t.shardpack --compression zstd --chunk-size 100000
create --input in --output t.shardpack --align 24
create --input in --output t.shardpack --oversize split
create --input in --output t.shardpack --compression lz4 --dictionary 1MiB
create --input in --output t.shardpack --group-by colour
create --input in --output no/such/../t.shardpack
touch there.shardpack
create --input in --output there.shardpack
create --json --input in --output there.shardpack
mkdir empty
create --input empty --output empty.shardpack
shardpack info empty.shardpack
ls
