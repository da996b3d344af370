dolium help verify | cmp - <(dolium verify --help) && echo the same
status dolium help verfy
