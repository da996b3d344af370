make_set set 8
dolium verify --json set
