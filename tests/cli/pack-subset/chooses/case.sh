make_pack a.shardpack 20
choose() { shardpack subset --force --no-summary a.shardpack -o t.shardpack "$@" && shardpack ls --keys-only t.shardpack | tr '\n' ' ' && echo; }
choose --prefix s001 --every 3
choose --range 18:
choose --range :3
printf 's0007\ns0003\r\n\ns0011\n' > keys
choose --keys-from keys
choose --keys-from - < keys
choose --sample 3 --seed 1
choose --sample 3 --seed 1
choose --sample 15% --seed 2
choose --range 5:10 --sample 100%
echo s0099 >> keys
status choose --keys-from keys
choose --keys-from keys --ignore-missing
choose --prefix none
status choose --every 0
status choose --sample half
status choose --range 30:
status choose --keys-from missing
