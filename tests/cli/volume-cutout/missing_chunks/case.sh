make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,2 --scales 1 a.npy v
rm v/1_1_1/4-8_0-4_0-2
dolium volume cutout v -o b.raw
dolium volume cutout --no-summary --box :,0:1,1:3 v -o c.raw
numbers c.raw uint8
dolium volume cutout --memory 32 --force --json v -o b.raw
status dolium volume cutout --strict v -o d.raw
status dolium volume cutout --strict --box 0:4,:,: v -o d.raw
