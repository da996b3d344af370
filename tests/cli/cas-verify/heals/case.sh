dolium cas init store
export DOLIUM_STORE=store
make_files in 4
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-owners --no-summary in
xorb=$(find store/xorbs -name '*.xorb')
overwrite "$xorb" 12 'XX'
status dolium cas verify --deep --quarantine
ls store/quarantine
status dolium cas verify
status dolium cas gc --grace 0s
dolium cas put --no-owners --no-summary in
dolium cas verify --deep
dolium cas gc --grace 0s
ls store/quarantine
dolium cas get in@1 -o out
cmp in/0 out/0
: > store/index/data.mdb
dolium cas get in -o again
truncate -s 12288 store/index/data.mdb
dolium cas get in -o third
dolium cas put --no-owners --json in | sed -E 's/.*"new_bytes":([0-9]*).*/new bytes: \1/'
