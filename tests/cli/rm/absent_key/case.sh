make_set set 4
status dolium rm set 1 77
status dolium rm --json set 77
dolium ls set
