dolium cas init store
export DOLIUM_STORE=store
make_files in 4
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-owner --no-summary in
overwrite "$(find store/xorbs -name '*.xorb')" 12 'XX'
status dolium cas verify --deep --set-aside
ls store/quarantine
dolium cas verify --help | grep set-aside || echo not shown
