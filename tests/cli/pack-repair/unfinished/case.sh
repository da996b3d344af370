# A writer that was killed leaves a temporary without a tail.
make_pack a.shardpack 4
head -c 700 a.shardpack > .t.shardpack.dolium-tmp-0123456789abcdef
status shardpack repair t.shardpack
shardpack verify t.shardpack
shardpack ls --keys-only t.shardpack
status shardpack repair t.shardpack
ls -A | grep -v files
