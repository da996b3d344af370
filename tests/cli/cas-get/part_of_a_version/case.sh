dolium cas init store
export DOLIUM_STORE=store
mkdir -p in/a/b
echo one > in/a/one
echo two > in/a/b/two
echo three > in/ab
ln -s one in/a/link
dolium cas put --no-summary --name x in
dolium cas put --no-summary --name x/y in/ab
dolium cas get x/a -o a
diff -r in/a a
dolium cas get x@1/a/b/two -o two
dolium cas get x/a/one -o -
dolium cas get x/y -o -
cat two
dolium cas ls x/a/
dolium cas ls x/ab
status dolium cas get x/nothing -o other
status dolium cas get x/a/link -o other
status dolium cas get x/a -o -
status dolium cas ls x/a/nothing
status dolium cas ls z/a
