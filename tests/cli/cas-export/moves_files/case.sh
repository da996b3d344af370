dolium cas init a
dolium cas init b
make_files in 4
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-owners --no-summary --store a in
dolium cas put --no-owners --no-summary --store a in/3
dolium cas export --store a -o out.mdb --xorbs xorbs 3
status dolium cas export --store a -o out.mdb 3
status dolium cas import --store b --name x out.mdb
dolium cas import --store b --name x --xorbs xorbs out.mdb
dolium cas get --store b x -o out
cmp out/* in/3
dolium cas get --store b "$(dolium cas ls --store b x)" -o - | head -1
dolium cas verify --store b --deep
dolium cas export --store a -o all.mdb --json
