# Class folders: each would be one record, and that is said.
mkdir -p shared/cat shared/dog apart/cat apart/dog samples/a samples/b
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16; do
  echo $i > shared/cat/$i.txt; echo $i > shared/dog/$i.txt
done
echo 1 > apart/cat/tom.txt; echo 2 > apart/cat/felix.txt; echo 3 > apart/dog/rex.txt
for key in a b; do echo 1 > samples/$key/left.txt; echo 2 > samples/$key/right.txt; done
create() { shardpack create --force --reproducible -o t.shardpack "$@"; }
create -i shared
create -i apart
create -i samples
create -i apart --group-by dir
create -i apart --group-by stem
create --json -i samples
