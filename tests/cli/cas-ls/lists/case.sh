dolium cas init store
export DOLIUM_STORE=store
make_files in 3
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas ls
dolium cas put --no-owners --no-summary in
dolium cas put --no-owners --no-summary --name "odd name" in/2
dolium cas ls
dolium cas ls in
dolium cas ls -l in
dolium cas ls --json "odd name"
status dolium cas ls nothing
status dolium cas log nothing
