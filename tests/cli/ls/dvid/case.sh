# Keys of an export have their scale in front; those of a scale or a shard do not.
make_export e
dolium ls e
dolium ls e/s1
dolium ls -l e/s0/128_0_0.arrow
