# A shard index of nothing but ones is damage, and no set without chunks.
make_set set 4
overwrite set/0.shard 0 "$(printf '\\xff%.0s' {1..32})"
cp set/0.shard before
status dolium ls set
status dolium verify --no-summary set
status dolium stats set > stats.txt
tail -1 stats.txt
status dolium convert --to files set out
status dolium convert --to files --skip-damaged set out
ls out
status dolium cat set 0
echo new > value
status dolium put set 4 value
cmp before set/0.shard
