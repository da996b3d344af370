# More threads than a machine has to give are not asked for.
make_set set 4
dolium verify --jobs 100000 set
dolium convert --no-summary --jobs 100000 --to files set out
ls out | wc -l
