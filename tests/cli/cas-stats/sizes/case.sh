dolium cas init store
export DOLIUM_STORE=store
make_files in 4
dolium cas put --no-summary --name a in/1 in/3
dolium cas put --no-summary --name b in/3
dolium cas stats b | grep -v created
dolium cas stats --json | sed -E 's/"index_bytes":[0-9]+/"index_bytes":N/; s/"(stored|shard)_bytes":[0-9]+/"\1_bytes":N/g; s/"compression_ratio":[0-9.]+/"compression_ratio":N/; s/"(raw_bytes|dedup_ratio)":[0-9.]+/"\1":N/g'
dolium cas reindex --json
dolium cas put --json --name c in/1 | grep -o '"new_chunks":[0-9]*'
