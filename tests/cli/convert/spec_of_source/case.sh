make_set set 8
mkdir bare
cp set/*.shard bare/
python3 -c 'import json; print(json.dumps(json.load(open("set/info"))["sharding"]))' > spec.json
dolium convert -f neuroglancer --spec spec.json --to files bare back
diff -r set.files back && echo the same
