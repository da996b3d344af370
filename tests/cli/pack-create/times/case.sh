mkdir -p in/a
echo x > in/a/x.txt
touch -d '2001-02-03 04:05:06.789 UTC' in/a/x.txt
chmod 640 in/a/x.txt
shardpack create --no-summary --keep-times -i in -o t.shardpack
shardpack extract t.shardpack -o out
stat -c '%a %Y %n' out/a/x.txt
