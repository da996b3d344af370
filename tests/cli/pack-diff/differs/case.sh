make_pack a.shardpack 5
make_pack same.shardpack 5 --compression zstd --align 64
shardpack diff a.shardpack same.shardpack
cp -r a.shardpack.files b
rm -r b/s0000; mkdir b/s0009; echo x > b/s0009/x.txt
echo changed >> b/s0001/text.txt
sed -i s/2/3/ b/s0002/meta.json
mv b/s0003/meta.json b/s0003/other.json
shardpack create --no-summary -i b -o b.shardpack
status shardpack diff a.shardpack b.shardpack
status shardpack diff --json a.shardpack b.shardpack
status shardpack diff --quiet b.shardpack a.shardpack
status shardpack diff a.shardpack missing.shardpack
