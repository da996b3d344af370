dolium cas init store
export DOLIUM_STORE=store
make_files in 4
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-owners --no-summary in
dolium cas verify
xorb=$(find store/xorbs -name '*.xorb')
overwrite "$xorb" 12 'XX'
status dolium cas verify --quick
status dolium cas verify
status dolium cas verify --deep
status dolium cas get in -o out -j 1
ls out
status dolium cas verify --deep --json --no-summary
printf '{}' > store/names/in/*.json
{ status dolium cas verify; status dolium cas gc; } 2>&1 |
  sed -E 's/00000001-[0-9a-f]{16}/00000001-CHECK/g'
