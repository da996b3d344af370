make_set set 3
dolium rm set 0 1 2
status dolium ls set
status dolium ls -l set
