make_pack all.shardpack 6 --metadata creator=Me
shardpack subset --no-summary --reproducible all.shardpack --range 0:2 -o a.shardpack
shardpack subset --no-summary --reproducible all.shardpack --range 2:6 --metadata part=2 -o b.shardpack
shardpack merge a.shardpack b.shardpack -o ab.shardpack
shardpack diff all.shardpack ab.shardpack
shardpack info ab.shardpack | grep metadata
shardpack merge --no-summary --reproducible a.shardpack b.shardpack --metadata part=none -o ab2.shardpack
shardpack info ab2.shardpack | grep metadata
status shardpack merge a.shardpack b.shardpack -o ab.shardpack
status shardpack merge a.shardpack missing.shardpack -o x.shardpack
# A damaged record is not handed on.
overwrite b.shardpack $(($(record_offset b.shardpack 1) + 120)) 'XX'
status shardpack merge a.shardpack b.shardpack -o x.shardpack
ls
