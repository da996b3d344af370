# The seed's layout counts voxels, unless asked otherwise.
make_export e --layout seed
dolium ls e/s0
dolium cat --voxels labels e/s0 64_64_0 | head -c 8 | od -An -tu8
tail -c 24 e/s0/128_0_0.arrow | tail -c 8; echo
dolium info e/s0 | grep -e coordinates -e flavour -e columns
dolium info --coordinates block e/s0 | grep coordinates
