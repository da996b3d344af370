make_array a.npy 40 30 20 uint64 'x // 10 + 4 * (y // 10) + 12 * (z // 10)'
dolium volume ingest --no-summary --resolution 4,4,8 --offset 5,5,5 --chunk-size 8,8,8 a.npy v
size() { python3 -c '
import struct, sys
head = open(sys.argv[1], "rb").read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n"
print(*struct.unpack(">2I", head[16:24]))' "$1"; }
dolium volume preview v -o a.png
size a.png
dolium volume preview --size 32 --json v -o b.png | sed 's/"size":[0-9]*/"size":SIZE/'
size b.png
dolium volume preview --scale 1 --at 44,34,24 v -o c.png
dolium volume preview v > d.png
cmp a.png d.png && echo the same
status dolium volume preview v -o a.png
status dolium volume preview --at 45,34,24 v -o e.png
status dolium volume preview --scale 9 v -o e.png
status dolium volume preview --size 4 v -o e.png
status dolium volume preview --scale 0 --memory 100 v -o e.png
status dolium volume preview missing
