# Bytes behind the last minishard index are legal, though nobody needs them.
make_set set 8
printf 'left over' >> set/1.shard
status dolium verify set
status dolium verify --json set
status dolium verify --quiet set
status dolium verify --strict set
