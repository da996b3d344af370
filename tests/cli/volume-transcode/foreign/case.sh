# What is in the folder of a volume and no part of it is left out, with a warning.
make_array a.npy 8 4 4 uint8 'x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,4 --scales 1 a.npy v
echo mine > v/README
mkdir v/notes && echo mine > v/notes/today
status dolium volume transcode v w
ls w
