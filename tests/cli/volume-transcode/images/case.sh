make_array a.npy 12 10 8 uint8 '8 * x + 8 * y + z'
dolium volume ingest --no-summary --chunk-size 8,8,8 --scales 1 a.npy v
near() {
  dolium volume cutout --no-summary --force "$1" -o b.npy
  python3 -c '
a, b = (open(name, "rb").read() for name in ("a.npy", "b.npy"))
assert len(a) == len(b)
print("differs by", "nothing" if a == b else "a little" if max(
    abs(x - y) for x, y in zip(a, b)) < 12 else "much")'
}
dolium volume transcode --no-summary --encoding png --png-level 9 v png
near png
dolium volume transcode --no-summary --encoding jpeg --quality 95 v jpeg
near jpeg
dolium volume transcode --no-summary --encoding jxl --quality 100 v jxl
near jxl
