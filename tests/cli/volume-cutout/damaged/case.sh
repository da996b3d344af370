make_array a.npy 16 8 8 uint8 '7'
dolium volume ingest --no-summary --scales 1 --chunk-size 8,8,8 a.npy v
damage_payload v/1_1_1 0
status dolium volume cutout v -o all.raw
status dolium volume cutout --skip-damaged --box 6:10,0:1,0:1 v -o row.raw && numbers row.raw uint8
status dolium volume cutout --skip-damaged --force --json --no-summary v -o row.raw
status dolium volume preview v -o v.png
status dolium volume preview --skip-damaged v -o v.png
