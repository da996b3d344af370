make_set set 8 --data-encoding gzip
damage_payload set 2
status dolium cat set 2
dolium cat --raw set 2 | wc -c
status dolium cat set 0
