# --sharding is --to-spec, --data-type is --to-dtype.
make_array a.npy 8 8 8 uint8 'x'
cat > spec << 'END'
{"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "hash": "identity",
 "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
END
dolium volume ingest --no-summary --chunk-size 4,4,4 --scales 1 --sharding spec --data-type uint16 a.npy v
dolium volume ingest --no-summary --chunk-size 4,4,4 --scales 1 --to-spec spec --to-dtype uint16 a.npy w
diff -r v w && echo the same
dolium volume info v | head -2
dolium volume ingest --help | grep -E -e '--(sharding|data-type)' || echo not shown
