dolium cas init store
export DOLIUM_STORE=store
make_files in 6
dolium cas put --no-summary in
overwrite "$(find store/xorbs -name '*.xorb')" 12 'XX'
status dolium cas get in -o out --no-summary 2> error
sed -E 's/[0-9a-f]{64}/HASH/g' error
rm -r out
status dolium cas get --skip-damaged in -o out 2> error
sed -E 's/[0-9a-f]{64}/HASH/g' error
ls -A out
