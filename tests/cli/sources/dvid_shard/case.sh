# One shard of a DVID export.
make_export e
for verb in info ls; do dolium $verb e/s0/0_0_0.arrow; done | grep -v '_bytes'
dolium stats e/s0/0_0_0.arrow | head -2
without_sizes dolium verify e/s0/0_0_0.arrow
