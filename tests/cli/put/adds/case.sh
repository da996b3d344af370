make_set set 4
echo new > new
status dolium put set 9 new
dolium cat set 9
echo from standard input | dolium put set 10 -
dolium cat set 10
dolium ls set
dolium verify set
