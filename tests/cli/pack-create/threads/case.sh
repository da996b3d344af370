# The number of threads does not show.
make_samples in 300
for compression in none gzip lz4 zstd; do
  for jobs in 1 2 7; do
    shardpack create --no-summary --reproducible -i in -o $compression-$jobs.shardpack \
      --compression $compression --threads $jobs
  done
  cmp $compression-1.shardpack $compression-2.shardpack && cmp $compression-1.shardpack $compression-7.shardpack && echo $compression the same
done
for jobs in 1 5; do
  shardpack create --no-summary --reproducible -i in -o dict$jobs-00.shardpack --compression zstd \
    --dictionary 4KiB --level 9 --shard-records 100 -j $jobs
done
cmp dict1-00.shardpack dict5-00.shardpack && cmp dict1-02.shardpack dict5-02.shardpack && echo dict the same
shardpack verify -q 'dict1-{00..02}.shardpack' | sed -E 's/[0-9.]+ kB/SIZE/'
shardpack diff none-1.shardpack 'dict1-{00..02}.shardpack'
