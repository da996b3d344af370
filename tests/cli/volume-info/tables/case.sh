mkdir v
cat > v/info << 'END'
{
  "@type": "neuroglancer_multiscale_volume",
  "type": "segmentation", "data_type": "uint64", "num_channels": 1, "mesh": "mesh",
  "scales": [
    {"key": "8_8_8", "size": [6446, 6643, 8090], "resolution": [8, 8, 8],
     "voxel_offset": [0, 0, 0], "chunk_sizes": [[64, 64, 64]],
     "encoding": "compressed_segmentation", "compressed_segmentation_block_size": [8, 8, 8],
     "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 9,
       "hash": "identity", "minishard_bits": 6, "shard_bits": 15,
       "minishard_index_encoding": "gzip", "data_encoding": "gzip"}},
    {"key": "16_16_16", "size": [3223, 3321, 4045], "resolution": [16, 16, 16],
     "voxel_offset": [0, 0, 0], "chunk_sizes": [[64, 64, 64], [512, 512, 1]],
     "encoding": "raw"}
  ]
}
END
dolium volume info v
dolium volume info --json v
