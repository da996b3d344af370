make_set set 40
dolium stats set
