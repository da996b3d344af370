dolium cas init store
export DOLIUM_STORE=store
make_files in 4
dolium cas put --no-summary in
dolium cas verify
xorb=$(find store/xorbs -name '*.xorb')
overwrite "$xorb" 12 'XX'
status dolium cas verify
status dolium cas verify --deep
status dolium cas get in -o out -j 1
ls out
status dolium cas verify --deep --json --no-summary
printf '{}' > store/names/in/*.json
status dolium cas verify
status dolium cas gc
