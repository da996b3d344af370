make_set set 8
dolium ls set
