# Only what fits the target.
for target in neuroglancer files precomputed dvid; do
  dolium convert --to $target --help | sed -n '/^--to/,/^$/p'
done
dolium convert --to files --help | grep -c -e '--jobs'
