# A DVID export becomes another one, unless a target is named; its spec is no obstacle.
make_export e --shard-side 2048
without_sizes dolium convert e copy
diff -r e copy && echo equal
without_sizes dolium convert --to files e files
ls files/s1
# What is neither DVID's nor dolium's would be lost.
echo notes > e/notes.txt
status dolium convert --to files e other
