make_objects obj 5 17 23
dolium mesh import --no-summary --from obj obj m
gzip -k m/5.index && rm m/5.index
dolium convert --sharded --shard-size 1MB m s | sed 's/, [0-9.]* [kK]*i*B//'
grep -c sharding s/info
dolium convert --unsharded s u | sed 's/, [0-9.]* [kK]*i*B//'
ls u
cmp m/17.index u/17.index && cmp m/17 u/17 && cmp m/5 u/5 && echo the same
dolium verify -q m s u
dolium convert --plan --sharded m p | wc -l
dolium convert --no-summary --sharded m p
cmp s/0.shard p/0.shard && echo resumed
dolium convert --no-summary --to files s f
ls f
status dolium convert --sharded --unsharded m x
status dolium convert --sharded --to files m x
status dolium convert --unsharded --shard-size 1MB s x
dolium mesh import --no-summary --from obj --legacy obj l
status dolium convert --sharded l x
make_set set 3
status dolium convert --unsharded set x
echo note > m/notes.txt
status dolium convert --sharded m x
