make_set set 5
dolium info --json set
