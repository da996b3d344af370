make_swc swc 5 17
dolium skeleton import --no-summary swc s
printf 'xxxx' > s/5
status dolium skeleton get s 5
status dolium skeleton export s all
ls all
status dolium verify s
