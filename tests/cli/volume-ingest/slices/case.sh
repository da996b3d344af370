# Pages of PNG; page 10 comes after page 9. Column x, row y.
python3 -c '
import os, struct, zlib

def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

os.mkdir("slices")
for z in range(1, 12):
    rows = b"".join(bytes([0, *(10 * z + 5 * y + x for x in range(4))]) for y in range(3))
    with open(f"slices/z{z}.png", "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        out.write(chunk(b"IHDR", struct.pack(">2I5B", 4, 3, 8, 0, 0, 0, 0)))
        out.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))'
without_sizes dolium volume ingest --chunk-size 4,4,4 --scales 1 slices v
dolium volume cutout --no-summary --box 2:4,1:2,: v -o out.raw
numbers out.raw uint8
