dolium cas init store
export DOLIUM_STORE=store
echo text > file
mkdir out
dolium cas put --no-summary file
status dolium cas get file -o out
status dolium cas get --force file -o out
dolium cas get --no-summary file -o out/file
cat out/file
status dolium cas get file -o out/file
