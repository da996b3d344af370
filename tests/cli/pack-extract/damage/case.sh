make_pack a.shardpack 3
overwrite a.shardpack $(($(record_offset a.shardpack 1) + 120)) 'XX'
status shardpack extract a.shardpack -o out
