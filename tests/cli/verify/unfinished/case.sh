make_set set 5
echo '{}' > set/.dolium-unfinished
dolium verify set
