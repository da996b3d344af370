make_set set 8
dolium verify --quick set
