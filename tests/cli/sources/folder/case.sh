make_files set 3
dolium info set
dolium ls set
dolium stats set | head -4
dolium verify set
