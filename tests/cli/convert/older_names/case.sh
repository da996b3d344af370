# --sharding is --to-spec, --from-sharding is --spec, --salvage is --skip-damaged.
make_set set 8 --data-encoding gzip
python3 -c 'import json; print(json.dumps(json.load(open("set/info"))["sharding"]))' > spec.json
mkdir bare
cp set/*.shard bare/
dolium convert -f neuroglancer --from-sharding spec.json --to files bare back
diff -r set.files back && echo the same
dolium convert --to neuroglancer --sharding spec.json back new
cmp set/0.shard new/0.shard && echo the same
damage_payload set 2
status dolium convert --to files --salvage set salvaged
make_export e
overwrite e/s0/0_0_0.arrow 1400 '\377\377\377\377'
status without_sizes dolium convert --salvage --to precomputed e v
dolium convert --help | grep -E -e '--(sharding|from-sharding|salvage|threads)' || echo not shown
