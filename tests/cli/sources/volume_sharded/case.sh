# A volume is one source: scales, and the parts that its info names, one in another folder.
make_array a.npy 8 4 4 uint8 '1 + x'
dolium volume ingest --no-summary --encoding raw --chunk-size 4,4,2 --scales 2 --factor 2,2,2 \
  a.npy v
mkdir meshes && echo '{"fragments":[]}' > meshes/7:0
python3 - << 'END'
import json
info = json.load(open("v/info"))
info["mesh"] = "../meshes"
json.dump(info, open("v/info", "w"))
END
dolium info v
dolium ls v
dolium cat v 2_2_2/0 | od -An -tu1
dolium cat v ../meshes/7:0
dolium stats v | head -2
without_sizes dolium verify v
# Each part also opens alone.
dolium ls v/2_2_2
dolium ls meshes
status dolium cat v nowhere/0
rm -r meshes
without_sizes dolium verify --strict v
echo "exit status $?"
