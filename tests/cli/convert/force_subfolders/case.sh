# What a conversion has made it can replace; what is not part of it stays.
make_files set 2
mkdir set/below
echo deep > set/below/file
dolium convert --no-summary set out
dolium convert --no-summary --force set out
diff -r set out && echo same
mkfifo out/below/pipe
status dolium convert --force set out
rm out/below/pipe
mkdir out/below/.history
status dolium convert --force set out
make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 em.npy em
dolium convert --no-summary em copy
echo mine > copy/4_4_8/notes
status dolium convert --force em copy
cat copy/4_4_8/notes
# What is more than a folder of files is not replaced by one.
status dolium convert --force --to files set copy
dolium cas init store
status dolium convert --force --to files set store
make_export export
status dolium convert --force --to files set export
# Neither is a source written to.
status dolium convert em em/within
status dolium convert --to neuroglancer set set/below/within
