# Standard input does not end; the signal comes once some of it has been read.
make_set set 4
mkfifo pipe
dolium put set 9 - < pipe &
exec 3> pipe
head -c 200000 /dev/zero >&3
kill -TERM $!
wait $!
echo "exit status $?"
dolium ls set
