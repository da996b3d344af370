# Each xorb is a task; the same command writes the shard when all are there.
dolium cas init a
make_files in 4
dolium cas put --no-summary --store a in
dolium cas export --store a -o whole.mdb --xorbs whole --no-summary
dolium cas export --store a -o out.mdb --xorbs xorbs --plan > tasks
wc -l < tasks
dolium task < tasks
ls | grep mdb
diff -r whole xorbs && echo the same
dolium cas export --store a -o out.mdb --xorbs xorbs | sed -E 's/, [0-9]+ B;/, SIZE;/'
cmp whole.mdb out.mdb && echo the same
ls | grep mdb
