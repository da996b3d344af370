# A DVID export holds voxels only: what it cannot hold of a volume is named.
make_array a.npy 8 8 8 uint64 '1 + x'
dolium volume ingest --no-summary --unsharded --scales 1 a.npy v
mkdir v/mesh v/bones v/names v/notes
echo mine > v/README
python3 - << 'END'
import json

info = json.load(open("v/info"))
info.update(mesh="mesh", skeletons="bones", segment_properties="names")
json.dump(info, open("v/info", "w"))
END
without_sizes status dolium convert --to dvid v x
find x -type f | sort
dolium convert --no-summary --to dvid --plan v y 2>&1 > /dev/null
# Of another export, there is nothing to leave out.
without_sizes status dolium convert --to dvid x z
