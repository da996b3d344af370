# What an export has no place for is said; WebDataset keeps the metadata of samples.
cat > s.jsonl <<'END'
{"key": "a", "metadata": {"label": 3}, "files": [{"name": "t.txt", "text": "one", "metadata": {"from": "x"}}]}
{"key": "b", "metadata_base64": "gaFhAQ==", "metadata_format": "msgpack", "files": [{"name": "t.txt", "text": "two", "content_type": "text/x-own"}]}
{"key": "c", "files": [{"name": "t.txt", "text": "three"}]}
END
shardpack import --from jsonl --no-summary s.jsonl s.shardpack
shardpack export --to webdataset s.shardpack s.tar
tar -tf s.tar
tar -xOf s.tar a.__metadata__.json; echo
shardpack import --from webdataset --no-summary s.tar again.shardpack
shardpack cat --metadata again.shardpack a; echo
shardpack cat --metadata again.shardpack b | od -An -tx1
shardpack ls -l again.shardpack
for kind in tfrecord lmdb folder; do
  shardpack export --no-summary --to $kind s.shardpack out.$kind
done
shardpack export --json --to tfrecord s.shardpack other.tfrecord
shardpack export --to jsonl s.shardpack all.jsonl
printf '{"key": "a", "files": [{"name": "__metadata__.json", "text": "{}"}]}\n' > own.jsonl
shardpack import --from jsonl --no-summary own.jsonl own.shardpack
status shardpack export --to webdataset own.shardpack own.tar
