make_files files 2
echo new > new
dolium put files name new
cat files/name
