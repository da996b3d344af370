make_set set 5
echo '{}' > set/.dolium-unfinished
dolium info set | grep state
dolium info --json set/0.shard | grep -o '"state":"[a-z]*"'
