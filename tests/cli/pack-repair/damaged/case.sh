make_pack a.shardpack 4 --metadata creator=Me
cp a.shardpack b.shardpack; overwrite b.shardpack $(($(record_offset b.shardpack 1) + 120)) 'XX'
status shardpack repair b.shardpack
status shardpack repair b.shardpack -o c.shardpack
shardpack verify c.shardpack
shardpack ls --keys-only c.shardpack
shardpack info c.shardpack | grep creator
status shardpack repair b.shardpack -o c.shardpack
status shardpack repair --no-summary --force b.shardpack > /dev/null
shardpack verify b.shardpack
head -c 700 a.shardpack > cut.shardpack
status shardpack repair --json cut.shardpack -o d.shardpack
shardpack verify d.shardpack
status shardpack repair missing.shardpack
echo nothing of the kind > text.shardpack
status shardpack repair text.shardpack -o e.shardpack
ls
