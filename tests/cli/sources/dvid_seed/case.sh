# An export in the layout of the seed: the index is at the end of each shard.
make_export e
dolium convert --no-summary --to dvid --layout seed e seed
dolium info seed
dolium ls seed
dolium ls --json seed/s1/0_0_0.arrow 2>&1 | head -1 | cut -d, -f1-4
dolium stats seed | head -3
without_sizes dolium verify seed
dolium convert --no-summary --to precomputed seed v && without_sizes dolium verify v
