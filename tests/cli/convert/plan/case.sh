make_files files 20
convert() {
  dolium convert --to neuroglancer --hash identity --preshift-bits 0 --minishard-bits 0 \
    --shard-bits 2 --minishard-index-encoding raw --data-encoding raw "$@" files set
}
convert --plan > tasks
wc -l < tasks
head -n 2 tasks > first
dolium task < first
dolium task --json "$(tail -n 1 tasks)"
convert --plan | wc -l
convert
dolium verify set
ls -A set
