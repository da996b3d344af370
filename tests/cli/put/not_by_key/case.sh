# A volume and a cas store are no folders of files.
make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 em.npy em
echo text > value
dolium cas init store
dolium cas put --no-summary --store store value > put.txt
for place in em store; do
  find $place -type f | sort > before
  status dolium put $place mine value
  status dolium rm $place info
  find $place -type f | sort | diff before -
done
status dolium put em/4_4_8 1 value
