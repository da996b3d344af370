make_set set 8
dolium verify set
