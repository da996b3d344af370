make_pack a.shardpack 3
cp a.shardpack b.shardpack
overwrite b.shardpack $(($(record_offset b.shardpack 2) + 120)) 'XX'
status shardpack cat missing.shardpack k f
status shardpack cat a.shardpack s0009 text.txt
status shardpack cat a.shardpack s0001 image.jpg
status shardpack cat a.shardpack s0001
status shardpack cat a.shardpack
status shardpack cat a.shardpack '#3' text.txt
status shardpack cat --number 3 a.shardpack text.txt
status shardpack cat --offset 1 a.shardpack text.txt
status shardpack cat --number 1 --offset 0 a.shardpack
status shardpack cat --number 1 a.shardpack text.txt more
status shardpack cat b.shardpack s0002 meta.json
status shardpack cat b.shardpack s0002 text.txt
