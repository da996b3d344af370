make_pack a.shardpack 4
overwrite a.shardpack $(($(record_offset a.shardpack 1) + 33)) 'XX'
status shardpack ls a.shardpack
status shardpack ls -l a.shardpack
status shardpack ls --json a.shardpack
