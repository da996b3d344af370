make_array a.npy 64 64 8 uint8 '(x + y) % 100'
dolium volume ingest --no-summary --scales 4 --chunk-size 4,4,4 a.npy v
dolium volume drop-scale v 1
ls -A v
dolium volume drop-scale --json v 8,8,8
dolium volume info v | tail -n +6
dolium verify v > /dev/null && echo good
dolium volume drop-scale --force v 0
ls -A v
