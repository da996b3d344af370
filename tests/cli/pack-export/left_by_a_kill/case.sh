# What a job leaves that is killed while it writes its last record, the next one removes.
make_pack a.shardpack 3
mkdir out
# By the name of the job's folder.
printf left > out/..dolium-done-7986a08575cfe16b.dolium-tmp-0123456789abcdef
shardpack export --to lmdb a.shardpack out
ls -A out
