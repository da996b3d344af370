make_array a.npy 8 8 8 uint8 'x'
dolium volume ingest --no-summary --chunk-size 4,4,4 a.npy v
for text in '' '{"scales": 5}' '{"scales": [' '{"type": "image", "data_type": "uint8", "num_channels": "one", "scales": []}'; do
  printf '%s' "$text" > v/info
  for verb in info ls stats verify "cat v" "volume info" "volume stats" "volume verify" "volume downsample" \
    "volume downsample --rebuild" "volume drop-scale" "volume cutout -o a.raw" "volume preview"; do
    arguments=v
    [ "$verb" = "volume drop-scale" ] && arguments="v 1"
    [ "$verb" = "cat v" ] && arguments=1
    dolium $verb $arguments > /dev/null 2>> errors
    printf '%s ' $?
  done
  for verb in "volume transcode" convert; do
    dolium $verb v out > /dev/null 2>> errors
    printf '%s ' $?
  done
  echo
done
sort -u errors >&2
ls -A
