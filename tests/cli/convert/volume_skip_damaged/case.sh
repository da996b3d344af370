# The files of a volume are copied as they are: damage within them is not seen.
make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 em.npy em
status dolium convert --skip-damaged em out
ls
