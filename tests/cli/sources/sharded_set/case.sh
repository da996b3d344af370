make_set set 5
dolium info set
dolium ls set
dolium stats set | head -4
dolium verify set
