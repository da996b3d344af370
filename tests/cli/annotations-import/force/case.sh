printf 'x,y,z\n1,2,3\n' > one.csv
printf 'x,y,z\n1,2,3\n4,5,6\n' > two.csv
dolium annotations import --no-summary one.csv set
status dolium annotations import two.csv set
dolium annotations ls set
dolium annotations import --no-summary --force two.csv set
dolium annotations ls set
mkdir other && echo mine > other/file
status dolium annotations import --force two.csv other
ls -A
