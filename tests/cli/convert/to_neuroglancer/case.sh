make_files files 20
dolium convert --to neuroglancer --hash murmurhash3_x86_128 --preshift-bits 0 \
  --minishard-bits 2 --shard-bits 1 --minishard-index-encoding gzip --data-encoding gzip files set
ls -A set
cat set/info
dolium verify set
