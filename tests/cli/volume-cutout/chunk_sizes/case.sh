# Of a scale with a copy for each of several chunk sizes, the one is read of which least is needed.
python3 - << 'END'
import json, os
os.makedirs("v/s")
json.dump({
    "@type": "neuroglancer_multiscale_volume", "type": "image", "data_type": "uint8",
    "num_channels": 1, "scales": [{
        "key": "s", "size": [4, 4, 4], "voxel_offset": [0, 0, 0], "resolution": [1, 1, 1],
        "encoding": "raw", "chunk_sizes": [[4, 4, 4], [2, 2, 2]]}]}, open("v/info", "w"))
# The copy of one chunk is damaged; nobody needs it for a small box.
open("v/s/0-4_0-4_0-4", "wb").write(b"short")
for x in (0, 2):
    for y in (0, 2):
        for z in (0, 2):
            name = "_".join(f"{a}-{a + 2}" for a in (x, y, z))
            open(f"v/s/{name}", "wb").write(bytes([x + y + z + 1]) * 8)
END
dolium volume cutout --box 2:4,0:2,2:4 -o small.raw v
numbers small.raw uint8
