# The folder that a job works in is no set, with or without its marker.
make_pack a.shardpack 3
mkdir -p set/a.shardpack.dolium-new
cp a.shardpack set/a.shardpack.dolium-new
for verb in ls verify stats info; do status dolium $verb set/a.shardpack.dolium-new; done
status dolium convert --to files set/a.shardpack.dolium-new out
status dolium pack ls set/a.shardpack.dolium-new
# Cut short while its files were moved into place.
cp a.shardpack set/b.shardpack
status dolium ls set
status dolium verify set
status dolium pack ls set
echo '{}' > set/a.shardpack.dolium-new/.dolium-unfinished
status dolium ls set
make_files files 1
mv files files.dolium-new
status dolium ls files.dolium-new
status dolium ls --unfinished files.dolium-new
