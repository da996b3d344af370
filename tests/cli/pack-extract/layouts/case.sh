make_pack a.shardpack 3 --compression lz4
shardpack extract a.shardpack -o dirs
diff -r a.shardpack.files dirs && echo the same
shardpack extract --stem a.shardpack -o stems
ls stems
status shardpack extract a.shardpack -o dirs
shardpack extract --json --force --range 1:2 a.shardpack -o dirs
shardpack extract --prefix s0002 --manifest a.shardpack -o some
find some -type f | sort
cat some/manifest.jsonl
status shardpack extract --stem --dir a.shardpack -o x
status shardpack extract missing.shardpack
# From the manifest, the same shard is made again.
shardpack extract --no-summary --manifest a.shardpack -o again
shardpack create --no-summary --reproducible --compression lz4 --group-by manifest -i again -o b.shardpack
cmp a.shardpack b.shardpack && echo the same
