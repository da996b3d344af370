make_set set 2000
dolium ls --json set | head -n 1 | grep -c key
