# Links in the folders of a volume: those that lead out of it are named, and what they lead to is copied.
make_array a.npy 8 4 4 uint32 '1 + x'
dolium volume ingest --no-summary --unsharded --chunk-size 4,4,4 --scales 1 a.npy v
mkdir v/mesh
sed -i 's/{/{"mesh": "mesh", /' v/info
echo seven > v/mesh/7:0:1
ln -s 7:0:1 v/mesh/7:0:2
ln -s ../info v/mesh/9:0:1
status dolium volume transcode --no-summary v inside
find inside/mesh -type f | sort
echo eight > elsewhere
ln -s ../../elsewhere v/mesh/8:0:1
ln -s "$PWD/elsewhere" v/mesh/8:0:2
status dolium volume transcode --no-summary v outside
cat outside/mesh/8:0:1 outside/mesh/8:0:2
find outside/mesh -type l
# A link that leads nowhere, and one to a folder.
ln -s nowhere v/mesh/3:0:1
status dolium volume transcode --no-summary v broken
rm v/mesh/3:0:1
ln -s .. v/mesh/up
status dolium volume transcode --no-summary v without
ls without
