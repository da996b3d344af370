make_pack base.shardpack 4
mkdir -p fix/s0001 fix/s0009 more/s0001
echo changed > fix/s0001/text.txt
echo new > fix/s0009/text.txt
echo 7 > more/s0001/label.cls
shardpack create --no-summary -i fix -o fix.shardpack
shardpack create --no-summary -i more -o more.shardpack --align 64
shardpack compact base.shardpack --overlay fix.shardpack more.shardpack -o new.shardpack
shardpack ls -l new.shardpack
shardpack cat new.shardpack s0001 text.txt
status shardpack diff base.shardpack new.shardpack
shardpack verify new.shardpack
status shardpack compact base.shardpack --overlay missing.shardpack -o x.shardpack
