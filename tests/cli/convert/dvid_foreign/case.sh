# Files in an export that are no part of it are not read, and named.
make_export e
echo mine > e/README
echo mine > e/s0/notes.txt
without_sizes status dolium convert --to precomputed e v
find v -name README -o -name notes.txt
without_sizes status dolium convert --to dvid e x
find x -name README -o -name notes.txt
