make_array em.npy 20 16 8 uint8 'x + y + z'
dolium volume ingest --no-summary --resolution 4,4,8 --chunk-size 16,16,8 --scales 1 \
  --factor 2,2,1 em.npy data/em
mkdir -p data/em/skeletons meshes
echo '{"fragments": []}' > meshes/7:0
echo '{}' > data/em/skeletons/info
echo who > data/em/provenance
python3 - << 'END'
import json
info = json.load(open("data/em/info"))
info["mesh"], info["skeletons"] = "../../meshes", "skeletons"
json.dump(info, open("data/em/info", "w"))
END
without_sizes dolium convert data/em copy
(cd copy && find . -type f | sort)
diff -r data/em copy | grep -v '^[<>\\-]' | sed 's/^diff -r .*/the info differs/; /^[0-9]/d'
python3 -c 'import json; print(json.load(open("copy/info"))["mesh"])'
dolium verify --no-summary copy && echo whole
status dolium convert data/em copy
dolium convert --no-summary --force data/em copy
mkdir copy/mine
status dolium convert --force data/em copy
