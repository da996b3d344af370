# One shard of a set: its own chunks, with the spec of the folder that it lies in.
make_set set 4
for verb in info ls; do dolium $verb set/1.shard; done
dolium stats set/1.shard | head -4
dolium verify set/1.shard
