# --scale chooses scales of the source, by number.
make_export e
for source in e e.volume; do
  for to in dvid precomputed; do
    echo "$source to $to"
    for scale in 0 1 0,1; do
      rm -rf out
      without_sizes status dolium convert --to $to --scale $scale $source out
      dolium volume info out | grep -v '^[a-z]'
    done
    rm -rf out
    for scale in 2 0,5 '' x 0,; do
      status dolium convert --to $to --scale "$scale" $source out
      ls -d out 2> /dev/null
    done
  done
done
status dolium convert --to files --scale 0 e/s0 out
