make_files files 8
dolium convert --json --to neuroglancer --preshift-bits 0 --minishard-bits 0 --shard-bits 0 \
  --hash identity --minishard-index-encoding raw --data-encoding raw files set
