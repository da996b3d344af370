# The same words in every verb: --quick, nothing, --deep; and not two of them.
make_set set 4 --data-encoding gzip
damage_payload set 2
make_pack a.shardpack 2
dolium cas init store
export DOLIUM_STORE=store
dolium cas put --no-summary set.files
for depth in --quick "" --deep "--quick --deep"; do
  echo "depth: $depth"
  status dolium verify --no-summary $depth set
  status dolium pack verify --no-summary $depth a.shardpack
  status dolium cas verify --no-summary $depth
done
