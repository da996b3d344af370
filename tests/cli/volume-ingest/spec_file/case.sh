make_array a.npy 8 8 8 uint8 'x'
cat > spec << 'END'
{"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "hash": "identity",
 "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
END
dolium volume ingest --chunk-size 4,4,4 --scales 1 --to-spec spec a.npy v
ls v/1_1_1
dolium volume info v
dolium ls v/1_1_1 | sort -n
echo '{}' > bad
status dolium volume ingest --to-spec bad a.npy w
status dolium volume ingest --to-spec missing a.npy w
