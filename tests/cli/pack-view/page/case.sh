mkdir -p in/a in/b
printf 'Ein schöner Text,\nin zwei Zeilen.' > in/a/text.txt
head -c 100 /dev/zero > in/a/zeros.bin
echo '{"x": 1}' > in/b/m.json
cat > in/manifest.jsonl << 'END'
{"key": "a", "metadata": {"label": "cat", "n": 3}, "files": [{"path": "a/text.txt"}, {"path": "a/zeros.bin"}]}
{"key": "b", "files": [{"path": "b/m.json"}]}
END
shardpack create --no-summary --group-by manifest -i in -o t.shardpack
shardpack view t.shardpack
shardpack view --begin 1 --count 1 t.shardpack
shardpack view --preview 7 --prefix a t.shardpack
shardpack view --json --preview 8 t.shardpack
shardpack view --begin 5 t.shardpack
status shardpack view missing.shardpack
overwrite t.shardpack $(($(record_offset t.shardpack 1) + 32)) 'X'
status shardpack view t.shardpack
