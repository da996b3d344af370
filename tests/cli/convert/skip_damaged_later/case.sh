# What failed for damage goes on with --skip-damaged, for all kinds of targets.
make_set set 8 --data-encoding gzip
damage_payload set 3
status dolium convert -j 1 --to files set out
without_sizes status dolium convert -j 1 --to files --skip-damaged set out
ls out
# The other way is another request.
rm -rf out
status dolium convert -j 1 --to files set out
status dolium convert -j 1 --skip-damaged --to neuroglancer set out
# Blocks of an export.
make_export e
damage_payload e/s0 0_0_0
for to in precomputed dvid; do
  status dolium convert -j 1 --to $to e to-$to
  ls -A to-$to
  without_sizes status dolium convert -j 1 --to $to --skip-damaged e to-$to
  dolium verify to-$to > /dev/null && echo good
done
