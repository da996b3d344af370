mkdir empty bad
echo '{"type": "image", "data_type": "uint12", "num_channels": 1, "scales": []}' > bad/info
status dolium volume info empty
status dolium volume info missing
status dolium volume info bad
status dolium volume info --json bad
