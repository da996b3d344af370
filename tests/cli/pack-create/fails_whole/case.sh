# A failure leaves no shard behind, not even complete ones; nor temporaries.
make_samples in 6
head -c 5000 /dev/zero > in/s0004/zeros.bin
status shardpack create -i in -o t-000000.shardpack --shard-records 1 --record-size-limit 2kB
ls -A
status shardpack create -i in -o t-000000.shardpack --shard-records 3 --record-size-limit 2kB --oversize skip
shardpack ls --keys-only t-000001.shardpack
rm t-*
head -c 1500 /dev/zero > in/s0004/more.bin
rm in/s0004/zeros.bin
shardpack create --no-summary -i in -o split.shardpack --record-size-limit 1700 --oversize split
shardpack ls -l split.shardpack
shardpack cat split.shardpack s0004 more.bin | cmp - in/s0004/more.bin && echo the same
shardpack verify split.shardpack
