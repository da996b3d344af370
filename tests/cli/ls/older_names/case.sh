make_set set 8
mkdir bare
cp set/*.shard bare/
python3 -c 'import json; print(json.dumps(json.load(open("set/info"))["sharding"]))' > spec.json
dolium ls --sharding spec.json bare/1.shard
make_export e
cat e/s1/0_0_0.arrow e/s1/0_0_0.arrow > twice
mv twice e/s1/0_0_0.arrow
dolium ls --salvage e/s1
dolium ls --help | grep -E -e '--(sharding|salvage)' || echo not shown
