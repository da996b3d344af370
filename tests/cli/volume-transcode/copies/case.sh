# A chunk that no decoder takes: it is copied as it is, where nothing about it changes.
make_array a.npy 8 4 4 uint8 'x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,4 --scales 1 a.npy v
printf 'damaged' > v/1_1_1/4-8_0-4_0-4
dolium volume transcode --no-summary v w
cat w/1_1_1/4-8_0-4_0-4; echo
status dolium volume transcode --no-summary --encoding png v x
