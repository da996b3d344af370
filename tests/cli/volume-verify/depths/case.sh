make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,2 --scales 1 a.npy v
dolium volume verify v
dolium volume verify --deep v
truncate -s 5 v/1_1_1/4-8_0-4_0-2
status dolium volume verify --quick v
status dolium volume verify v
status dolium volume verify --deep v
