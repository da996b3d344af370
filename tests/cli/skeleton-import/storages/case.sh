make_swc swc 5 17
dolium skeleton import swc s
dolium skeleton import --json --sharded --keep-types swc k | sed 's/"stored_bytes":[0-9]*/"stored_bytes":BYTES/'
dolium verify s
status dolium verify --strict k
dolium convert --no-summary --unsharded k u
ls u
dolium convert --no-summary --sharded u v
dolium skeleton export --no-summary v swc2
dolium skeleton export --no-summary s swc1
cmp swc1/5.swc swc2/5.swc && echo the same
printf '1 0 0 0 0 1 7\n' > 9.swc
status dolium skeleton import 9.swc bad
status dolium skeleton import swc s
dolium skeleton import --no-summary --force swc/5.swc s
dolium skeleton ls s
ls
