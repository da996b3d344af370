# A sharded mesh: the fragments lie right before the manifest, which has their length.
mkdir files
python3 - <<'PYTHON'
import struct
for key, fragments in (("7", b"fragments\n"), ("9", b"other fragments\n")):
    manifest = struct.pack("<6fI", 1, 1, 1, 0, 0, 0, 1)          # chunk, origin, num_lods
    manifest += struct.pack("<4fI", 1, 0, 0, 0, 1)               # scale, offsets, fragments
    manifest += struct.pack("<4I", 0, 0, 0, len(fragments))      # position, size
    open(f"files/{key}", "wb").write(manifest)
    open(f"files/{key}.preceding", "wb").write(fragments)
PYTHON
dolium convert --no-summary --to neuroglancer --data-encoding raw files set
python3 - <<'PYTHON'
import json
info = json.load(open("set/info"))
info["@type"] = "neuroglancer_multilod_draco"
json.dump(info, open("set/info", "w"))
PYTHON
dolium ls --json set
dolium cat set 7 | cmp - files/7 && echo the manifest
dolium cat --preceding set 7
dolium rm set 9
dolium put --preceding files/9.preceding set 8 files/9
dolium cat --preceding set 7
dolium cat --preceding set 8
dolium verify -f neuroglancer --strict set
