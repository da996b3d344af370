make_pack plain.shardpack 3
make_pack all.shardpack 3 --keys --entry-index yes
make_pack few.shardpack 3 --no-keyx --entx no
for name in plain all few; do shardpack info $name.shardpack | grep sections; done
for name in plain all few; do shardpack cat $name.shardpack s0001 meta.json; shardpack ls --keys-only $name.shardpack; done
shardpack verify --no-summary plain.shardpack all.shardpack few.shardpack && echo good
