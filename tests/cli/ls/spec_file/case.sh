make_set set 8
mkdir bare
cp set/*.shard bare/
python3 -c 'import json; print(json.dumps(json.load(open("set/info"))["sharding"]))' > spec.json
status dolium ls bare/1.shard
status dolium ls --spec spec.json bare/1.shard
status dolium ls --spec missing.json bare/1.shard
