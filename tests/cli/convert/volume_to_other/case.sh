make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 em.npy em
status dolium convert --to files em out
status dolium convert --hash identity em out
dolium convert --no-summary --to files em/4_4_8 out && ls out
ln -s .. em/up
status dolium convert em copy
ls
