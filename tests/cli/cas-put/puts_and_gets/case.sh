dolium cas init store
export DOLIUM_STORE=store
make_files in 5
chmod 640 in/3
ln -s 3 in/link
mkdir -m 755 in/empty
chmod 644 in/[0-24]
touch -h -d @1700000000 in/* in
chmod 755 in
dolium cas put --no-owners in | sed 's/, [^,]* on disk/, SIZE on disk/'
dolium cas put --no-owners in
dolium cas put --no-owners --host box --json --name one in/4 | sed -E 's/"created":"[^"]*"/"created":"TIME"/'
dolium cas get in -o out
diff -r in out && stat -c '%a %n' out/3 && readlink out/link
dolium cas get one -o - | head -1
status dolium cas get in -o out
status dolium cas get in@7 -o other
status dolium cas get nothing -o other
status dolium cas get in -o -
status dolium cas get in
