make_pack t.shardpack 2
dolium info t.shardpack
dolium ls t.shardpack
dolium stats t.shardpack | head -3
dolium verify t.shardpack
