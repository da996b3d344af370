# Tasks of two stages; the same command without --plan completes them.
make_array a.npy 300 6 6 uint16 'x // 50'
dolium volume ingest --no-summary --type segmentation --scales 1 a.npy v
dolium mesh make --plan v meshes > tasks
grep -o '"part".*' tasks
sed -n 3p tasks > last
status dolium task < last 2>&1 | sed 's|/.*/meshes|meshes|'
dolium task --json < tasks | sed -E 's/_bytes":[0-9]+/_bytes":SIZE/g'
without_sizes dolium mesh make v meshes
