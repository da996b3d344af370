# The spec has sizes, resolutions and sharding; blocks outside are counted and left out.
make_export e
cat > spec.json <<'SPEC'
{"@type": "neuroglancer_multiscale_volume", "type": "segmentation", "data_type": "uint64",
 "num_channels": 1, "scales": [
 {"key": "8_8_8", "size": [128, 70, 40], "resolution": [8, 8, 8], "chunk_sizes": [[64, 64, 64]],
  "encoding": "compressed_segmentation", "compressed_segmentation_block_size": [8, 8, 8],
  "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity",
   "preshift_bits": 0, "minishard_bits": 1, "shard_bits": 1, "data_encoding": "gzip"}},
 {"key": "16_16_16", "size": [64, 35, 20], "resolution": [16, 16, 16],
  "chunk_sizes": [[64, 64, 64]], "encoding": "compressed_segmentation",
  "compressed_segmentation_block_size": [8, 8, 8]}]}
SPEC
without_sizes dolium convert --to precomputed --spec spec.json e v
dolium volume info v
dolium volume cutout --no-summary --box 126:128,68:70,38:39 v -o a.raw
numbers a.raw uint64
without_sizes dolium convert --to precomputed --spec spec.json --downsample 1 --supervoxels e w
dolium volume info --json w | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["scales"]))'
status dolium convert --to precomputed --labels --supervoxels e x
status dolium convert --to dvid --hash identity e x
status dolium convert --to files --supervoxels e x
