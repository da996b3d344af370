make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --unsharded --encoding raw --chunk-size 4,4,2 --scales 1 \
  a.npy v
dolium info v
dolium ls v
dolium cat v 1_1_1/4-8_0-4_2-4 | od -An -tu1 -N4
dolium stats v | head -4
dolium verify v
# Taken for a folder of files, it is one.
dolium ls -f files v
