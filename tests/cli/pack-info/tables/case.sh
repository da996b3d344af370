make_pack a.shardpack 3 --metadata creator=Me year=1999 'note=two words = one'
make_pack b.shardpack 5 --metadata creator=Me year=2000 --align 64
shardpack info a.shardpack
shardpack info --long a.shardpack b.shardpack
