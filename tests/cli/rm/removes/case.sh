make_set set 6
status dolium rm set 1 4
dolium ls set
dolium verify set
status dolium rm --json set 2
