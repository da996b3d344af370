make_array a.npy 5 4 3 uint8 '50 * z + 10 * y + x'
dolium volume ingest --no-summary a.npy v
dolium volume cutout v -o a.tif
dolium volume cutout --deflate v -o b.tiff
for file in a.tif b.tiff; do
  dolium volume ingest --no-summary $file from-$file
  dolium volume cutout --no-summary from-$file -o $file.npy
  cmp a.npy $file.npy && echo the same
done
dolium volume cutout --json --box 1:3,1:2,0:3 v -o c.npy
numbers c.npy uint8
status dolium volume cutout v -o c.npy
status dolium volume cutout v -o c.doc
status dolium volume cutout v
ls
