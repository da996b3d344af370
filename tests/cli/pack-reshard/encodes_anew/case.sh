# Dictionaries are of a shard: its samples are decoded. So they are for other alignments.
make_pack d.shardpack 40 --compression zstd --dictionary 1KiB
make_pack a.shardpack 40 --align 64
shardpack reshard --no-summary d.shardpack --shards 2 -o plain-0.shardpack
shardpack info 'plain-{0..1}.shardpack' | grep -E 'dictionary|compression'
shardpack verify --no-summary 'plain-*.shardpack' && shardpack diff d.shardpack 'plain-*.shardpack'
shardpack merge --no-summary a.shardpack d.shardpack -o both.shardpack
shardpack info both.shardpack | grep -E 'alignment|records'
shardpack reshard --no-summary a.shardpack --align 8 --compression lz4 --shard-records 20 -o lz4-0.shardpack
shardpack info 'lz4-*.shardpack' | grep -E 'alignment|compression'
shardpack diff a.shardpack 'lz4-*.shardpack'
# The number of threads does not show.
for jobs in 1 3; do
  shardpack reshard --no-summary --reproducible -j $jobs d.shardpack --shard-records 7 -o j$jobs-0.shardpack
done
cat j1-* | cmp - <(cat j3-*) && echo the same
