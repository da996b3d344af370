make_pack a.shardpack 12 --compression zstd
shardpack cat a.shardpack s0002 text.txt
shardpack cat a.shardpack '#1' meta.json
shardpack cat --number 11 a.shardpack meta.json
shardpack cat --offset $(record_offset a.shardpack 3) a.shardpack meta.json
shardpack cat -o out.txt a.shardpack s0000 text.txt
status shardpack cat -o out.txt a.shardpack s0000 text.txt
shardpack cat --force --json -o out.txt a.shardpack s0001 text.txt
cat out.txt
mkdir -p one/k
echo alone > one/k/file
shardpack create --no-summary -i one -o one.shardpack
shardpack cat one.shardpack k
