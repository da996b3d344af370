# What a conversion has made it can replace; what is not part of it stays.
make_files set 2
mkdir set/below
echo deep > set/below/file
dolium convert --no-summary set out
dolium convert --no-summary --force set out
diff -r set out && echo same
mkfifo out/below/pipe
status dolium convert --force set out
make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 em.npy em
dolium convert --no-summary em copy
echo mine > copy/4_4_8/notes
status dolium convert --force em copy
cat copy/4_4_8/notes
