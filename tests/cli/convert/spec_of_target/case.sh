make_files files 8
cat > spec.json <<'SPEC'
{"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 1,
 "minishard_bits": 0, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
SPEC
dolium convert --to neuroglancer --to-spec spec.json files set
dolium ls -l set
