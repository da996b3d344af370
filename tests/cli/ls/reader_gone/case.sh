mkdir files
for ((i = 0; i < 2000; ++i)); do echo $i > files/$i; done
dolium ls --json files | head -n 1 | grep -c key
