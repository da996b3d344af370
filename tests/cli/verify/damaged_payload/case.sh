make_set set 8 --data-encoding gzip
damage_payload set 2
status dolium verify set
status dolium verify --json set
status dolium verify --quick set
