# A volume behind a server that lists nothing: its info says where to look.
make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --encoding raw --chunk-size 4,4,2 --scales 2 --factor 2,2,2 \
  a.npy v
serve
at_url dolium info "$url/v"
at_url dolium ls "$url/v"
dolium cat "$url/v" 2_2_2/0 | od -An -tu1
at_url dolium stats "$url/v" | head -3
at_url without_sizes dolium verify "$url/v"
at_url dolium convert --no-summary "$url/v" copy
at_url dolium convert --no-summary --to precomputed "$url/v" again && dolium verify again
