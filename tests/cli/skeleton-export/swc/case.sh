make_swc swc 5 17
dolium skeleton import swc s
dolium skeleton ls s
dolium skeleton export s all
cat all/5.swc
dolium skeleton get s 17 17.swc
cmp 17.swc all/17.swc
dolium skeleton get s 17 | head -1
dolium skeleton export --json s 17 99 some
status dolium skeleton get s 99
status dolium skeleton get s 17 17.swc
