mkdir v
cat > v/info << 'END'
{
  "type": "image", "data_type": "uint8", "num_channels": 1,
  "scales": [
    {"key": "8_8_8", "size": [64, 64, 64], "resolution": [8, 8, 8],
     "chunk_sizes": [[64, 64, 64]], "encoding": "raw"},
    {"key": "8_8_8", "size": [100, 32, 32], "resolution": [16, 16, 16],
     "chunk_sizes": [[64, 64, 64]], "encoding": "raw"}
  ]
}
END
dolium volume info v
dolium volume info --json v
