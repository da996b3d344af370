make_set set 8
make_files other 3
dolium convert --force --to neuroglancer --preshift-bits 0 --minishard-bits 0 --shard-bits 0 \
  --data-encoding raw --minishard-index-encoding raw other set
dolium ls set
ls -A . set
