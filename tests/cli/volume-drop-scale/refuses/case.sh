make_array a.npy 16 16 8 uint8 '(x + y) % 100'
dolium volume ingest --no-summary --scales 2 --chunk-size 4,4,4 a.npy v
status dolium volume drop-scale v 0
status dolium volume drop-scale --force v 0 1
status dolium volume drop-scale v 2
status dolium volume drop-scale v 3,3,3
status dolium volume drop-scale v coarse
status dolium volume drop-scale missing 1
touch v/2_2_2/notes.txt
status dolium volume drop-scale v 1
ls -A v v/2_2_2
