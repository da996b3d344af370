make_set set 8 --data-encoding gzip
dolium cat --raw set 2 | gzip -dc
