make_pack a.shardpack 3
make_pack b.shardpack 12
shardpack ls a.shardpack
shardpack ls -l a.shardpack
shardpack ls --json a.shardpack
shardpack ls --keys-only --prefix s001 b.shardpack
shardpack ls -l --prefix s001 b.shardpack
shardpack ls -l --range 1:3 a.shardpack b.shardpack
shardpack ls --keys-only --json --range 2: a.shardpack
shardpack ls --prefix none a.shardpack
status shardpack ls --range 3-4 a.shardpack
status shardpack ls --range 7: a.shardpack
status shardpack ls missing.shardpack
