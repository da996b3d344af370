make_set set 8
dolium verify --no-summary set
