make_set a 8
make_set b 8
status dolium verify a b
status dolium verify a missing b
