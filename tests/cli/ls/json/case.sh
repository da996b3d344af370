make_set set 8
dolium ls --json set
