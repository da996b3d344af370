dolium cas init store
export DOLIUM_STORE=store
mkdir in
echo text > in/file
ln -s file in/link
dolium cas put --no-summary in
dolium cas put --no-summary in/file
mkfifo pipe
status dolium cas get --force file -o pipe
status dolium cas get --force file -o /dev/null
mkdir out
mkfifo out/link
status dolium cas get --force in -o out
rm out/link
echo other > out/link
dolium cas get --force --no-summary in -o out
readlink out/link
test -p pipe && test -c /dev/null
