make_set set 3
mkdir set/notes
status dolium convert --to files set out
dolium convert --no-summary -f neuroglancer --to files set out && ls out
ln -s . set.files/loop
status dolium convert set.files copy
