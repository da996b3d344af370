# The lists of a block of an export: its labels, and the supervoxels that they are made of.
for name in dvid-one-row stream-plain seed; do
  cp "$CASE/../../../../src/dolium/formats/dvid/testdata/good/$name.arrow" .
  key=$(dolium ls $name.arrow | head -1)
  dolium cat --lists $name.arrow "$key" | cut -c-160
done
make_files f 1
status dolium cat --lists f 0
status dolium cat --lists stream-plain.arrow 900_0_0
