make_set set 8
dolium stats --json set
