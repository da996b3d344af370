dolium cas init store
export DOLIUM_STORE=store
make_files in 4
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-summary in
status dolium cas diff in@1 in
rm in/0; echo new > in/new; echo more >> in/1; chmod 600 in/2
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-summary in
status dolium cas diff in@1 in
status dolium cas diff --json --no-summary in@1 in
