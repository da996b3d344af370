# What can be said of what comes once: info, ls, stats and verify; all else is refused by name.
make_pack t.shardpack 3
shard=$(ls "$CASE"/../../../../src/dolium/formats/xet/testdata/good/shards/*.mdb | head -1)
for input in t.shardpack "$shard"; do
  for verb in info ls stats verify; do dolium $verb - < "$input"; done
done
dolium stats --json - < t.shardpack
status dolium stats --format xet - < t.shardpack
status dolium cat - s0001/text.txt < t.shardpack
status dolium convert - out < t.shardpack
status dolium convert --to files - out < t.shardpack
status dolium put - key file < t.shardpack
ls -d out 2> err || echo 'nothing was written'
