make_array a.npy 3 2 2 uint8 '100 * z + 10 * y + x'
dolium volume ingest --no-summary --chunk-size 2,2,1 a.npy v
cut() { dolium volume cutout --no-summary --force "$@"; }
# .npy: shape and numbers as NumPy lists them.
listed() {
  python3 -c '
import ast, sys
data = open(sys.argv[1], "rb").read()
end = 10 + int.from_bytes(data[8:10], "little")
header = ast.literal_eval(data[10:end].decode())
print(header["shape"], "F" if header["fortran_order"] else "C", *data[end:])' "$1"
}
for axes in xyz zyx yxz xzy cxyz; do
  cut --axes $axes v -o b.npy
  echo "$axes $(listed b.npy)"
  dolium volume ingest --no-summary --force --axes $axes b.npy w
  cut w -o c.npy
  cmp a.npy c.npy && echo the same
done
cut --axes zyx v -o b.raw && numbers b.raw uint8
cut --axes zyx --c-order v -o b.raw && numbers b.raw uint8
# Page by page, each turned into the other order.
cut --axes zyx --memory 12 v -o b.raw && numbers b.raw uint8
cut --axes yx --box :,:,1:2 v -o b.npy && listed b.npy
status cut --axes zyx --memory 11 v -o d.raw
status cut --axes zy v -o d.npy
status cut --axes yx v -o d.npy
status cut --axes zyx v -o d.tif
status cut --c-order v -o d.npy
ls
