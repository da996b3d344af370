make_objects obj 5 17
dolium mesh import --no-summary --from obj obj m
size() { python3 -c '
import struct, sys
head = open(sys.argv[1], "rb").read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n"
print(*struct.unpack(">2I", head[16:24]))' "$1"; }
dolium mesh preview m 5 17 -o a.png
size a.png
dolium mesh preview --size 64 --json m 5 -o b.png | sed 's/"size":[0-9]*/"size":SIZE/'
size b.png
dolium mesh preview --size 90,40 --view=-x m 5 > c.png
size c.png
dolium mesh preview --size 64 --view 30,20 m 5 -o d.png
cmp -s b.png d.png || echo another view
status dolium mesh preview m 5 -o a.png
status dolium mesh preview m 6 -o e.png
status dolium mesh preview --size 4 m 5 -o e.png
status dolium mesh preview --size wide m 5 -o e.png
status dolium mesh preview --view up m 5 -o e.png
status dolium mesh preview missing 5
