make_pack a.shardpack 4
cp a.shardpack b.shardpack; overwrite b.shardpack $(($(record_offset b.shardpack 1) + 120)) 'XX'
cp a.shardpack c.shardpack; overwrite c.shardpack $(($(record_offset c.shardpack 2) + 33)) 'XX'
head -c 700 a.shardpack > d.shardpack
cp a.shardpack e.shardpack; echo more >> e.shardpack
for name in a b c d e; do status shardpack verify $name.shardpack; done
status shardpack verify --json b.shardpack
status shardpack verify --quick b.shardpack
status shardpack verify a.shardpack missing.shardpack b.shardpack
