# A link in the place of a folder is never followed: it is replaced with --force.
dolium cas init store
export DOLIUM_STORE=store
mkdir -p in/sub/deep elsewhere out/sub
echo text > in/sub/file
echo deep > in/sub/deep/file
dolium cas put --no-summary in
echo kept > elsewhere/file
rmdir out/sub
ln -s ../elsewhere out/sub
status dolium cas get --force --no-summary in -o out
test -L out/sub || echo a folder
cat out/sub/file out/sub/deep/file elsewhere/file
ls elsewhere
# One that leads nowhere, too; a file is not replaced by a folder.
rm -r out/sub/deep
ln -s nowhere out/sub/deep
status dolium cas get --force --no-summary in -o out
cat out/sub/deep/file
rm -r out/sub/deep
echo file > out/sub/deep
status dolium cas get --force --no-summary in -o out
