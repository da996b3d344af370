# What is compressed already is not compressed again, nor what does not get smaller.
mkdir -p in/a
head -c 20000 /dev/zero > in/a/zeros.bin
head -c 20000 /dev/zero > in/a/photo.jpg
echo x > in/a/small.txt
head -c 300000 /dev/zero > in/a/large.raw
shardpack create --no-summary -i in -o t.shardpack --compression zstd --chunk-size 128KiB
shardpack ls --json t.shardpack | python3 -c '
import json, sys
for file in json.load(sys.stdin)["files"]:
    print(file["name"], file["content_type"] or "-", file["size"], file["compression"], file.get("chunked", False))'
shardpack create --no-summary -i in -o aligned.shardpack --align 4096
shardpack info aligned.shardpack
shardpack cat t.shardpack a large.raw | cmp - in/a/large.raw && echo the same
