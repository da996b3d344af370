# What can be part of no sample is left out, and said; the exit status stays 0.
printf 1 > a.x; printf 2 > README; ln -s a.x l.x; mkfifo p.x; printf 3 > b.x
archive() { tar --format=ustar --owner=0 --group=0 --mtime=@0 "$@"; }
archive -cf one.tar a.x README l.x p.x
archive -cf two.tar b.x
cat one.tar two.tar > joined.tar
status shardpack import --from webdataset one.tar one.shardpack
cat one.tar | shardpack import --no-summary --from webdataset - piped.shardpack
printf nothing | status shardpack import --from webdataset - bad.shardpack
status shardpack import --from webdataset --skip-damaged joined.tar joined.shardpack
shardpack ls joined.shardpack
mkdir in; cp a.x in; printf h > in/.h; mkfifo in/p.x
status shardpack create --json --reproducible in in.shardpack
