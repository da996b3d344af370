mkdir -p flat/sub dirs/a/b
echo 1 > flat/x.left.txt; echo 2 > flat/x.right.txt; echo 3 > flat/y.left.txt
echo 4 > dirs/a/one.txt; echo 5 > dirs/a/b/two.txt
rmdir flat/sub
show() { shardpack create --force --no-summary -o t.shardpack "$@" && shardpack ls -l t.shardpack; }
show -i flat
show -i flat --group-by stem
status show -i dirs
show -i dirs --group-by dir
status show -i dirs --group-by stem
cat > list.jsonl << 'END'
{"key": "z", "files": [{"path": "flat/x.left.txt", "name": "l.txt"}, {"path": "dirs/a/one.txt"}], "metadata": {"n": 1}}
{"key": "a", "files": [{"path": "flat/y.left.txt", "content_type": "text/x-own"}]}
END
show -i list.jsonl
show -i . --manifest list.jsonl
shardpack cat --metadata t.shardpack z; echo
shardpack ls -l t.shardpack
cp list.jsonl flat/manifest.jsonl
status show -i flat --group-by manifest
