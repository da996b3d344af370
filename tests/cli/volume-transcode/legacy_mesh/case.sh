# Fragments of legacy meshes may have any name; a manifest names them, and so --force knows them.
make_array a.npy 8 4 4 uint32 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,4 --scales 1 a.npy v
mkdir v/mesh
echo '{"@type": "neuroglancer_legacy_mesh"}' > v/mesh/info
echo '{"fragments": ["seg7_a", "b.bin"]}' > v/mesh/7:0
echo seven > v/mesh/seg7_a
echo other > v/mesh/b.bin
sed -i 's/{/{"mesh": "mesh", /' v/info
dolium volume transcode --no-summary v w
status dolium volume transcode --no-summary --force --sharded v w
ls w/mesh
# Half made, and of another request: not all manifests need be there.
dolium volume transcode --plan v x > tasks
dolium task < tasks > /dev/null
rm x/mesh/7:0
status dolium volume transcode --no-summary --force --sharded v x
ls x/mesh
# What nobody names is not replaced.
echo mine > w/mesh/notes
status dolium volume transcode --no-summary --force v w
rm w/mesh/notes w/mesh/7:0
status dolium volume transcode --no-summary --force v w
