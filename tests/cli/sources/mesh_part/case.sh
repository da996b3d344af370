# The mesh of a volume by itself, in files and in shards.
make_array a.npy 4 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --encoding raw --scales 1 a.npy v
make_files v/mesh 2
make_set v/shards 3
python3 - << 'END'
import json
info = json.load(open("v/info"))
info["mesh"] = "mesh"
info["skeletons"] = "shards"
json.dump(info, open("v/info", "w"))
END
for part in mesh shards; do
  for verb in info ls; do dolium $verb v/$part; done
  dolium stats v/$part | head -3
  dolium verify v/$part
done
