make_samples in 3
shardpack import --no-summary --from folder in folder.shardpack
(cd in && for i in 0 1 2; do for f in meta.json text.txt; do cp s000$i/$f ../s000$i.$f; done; done)
tar cf t.tar s0000.* s0001.* s0002.*
shardpack import --from webdataset t.tar wds.shardpack
shardpack ls -l wds.shardpack
printf '{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n' > t.jsonl
shardpack import --no-summary --from jsonl t.jsonl j.shardpack
shardpack ls -l j.shardpack
for kind in webdataset:o.tar mds:o.mds tfrecord:o.tfrecord lmdb:o.lmdb jsonl:o.jsonl folder:o.folder; do
  shardpack export --no-summary --to ${kind%:*} folder.shardpack ${kind#*:}
  shardpack import --no-summary --from ${kind%:*} ${kind#*:} back-${kind%:*}.shardpack
  shardpack ls -l back-${kind%:*}.shardpack
done
shardpack export --to jsonl folder.shardpack p.jsonl
status shardpack import --from parquet t.parquet x.shardpack
status shardpack export --to parquet folder.shardpack x.parquet
status shardpack import --from nothing t x.shardpack
status shardpack import t x.shardpack
status shardpack import --from webdataset missing.tar x.shardpack
status shardpack export --to jsonl folder.shardpack p.jsonl
status shardpack export --to jsonl missing.shardpack q.jsonl
