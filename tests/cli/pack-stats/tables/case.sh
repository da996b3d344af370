make_pack a.shardpack 3 --metadata creator=Me year=1999 'note=two words = one'
make_pack b.shardpack 5 --metadata creator=Me year=2000 --align 64
shardpack stats b.shardpack
shardpack stats --json a.shardpack
shardpack stats --long a.shardpack b.shardpack | tail -3
shardpack stats --json a.shardpack > new
# The older name.
shardpack info --json --scan a.shardpack | cmp - new && echo the same
