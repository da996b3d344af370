# Where nothing about chunks changes, they are copied as they are, unless no decoder takes them.
make_array a.npy 8 4 4 uint8 'x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,4 --scales 1 a.npy v
dolium volume transcode --no-summary v w
cmp v/1_1_1/4-8_0-4_0-4 w/1_1_1/4-8_0-4_0-4 && echo equal
printf 'damaged' > v/1_1_1/4-8_0-4_0-4
status dolium volume transcode --no-summary v y
status dolium volume transcode --no-summary --encoding png v x
