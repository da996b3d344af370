make_set set 20
rm set/0.shard
mkdir set/0.shard
status dolium verify set
status dolium cat set 0
status dolium put set 0 set.files/0
without_sizes status dolium convert set out
without_sizes status dolium convert --skip-damaged set salvaged
