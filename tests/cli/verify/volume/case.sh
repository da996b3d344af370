make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,2 --scales 1 a.npy v
rm v/1_1_1/4-8_0-4_0-2
status dolium verify v
status dolium verify --strict v
status dolium verify --quick --strict --json v
echo orphan > v/1_1_1/1-2_3-4_5-6
status dolium verify --quick v
rm -r v/1_1_1
status dolium verify --strict v
