printf 'x,y\n1,2\n' > short.csv
printf 'x,y,z\n1,2\n' > row.csv
printf 'x,y,z\n1,2,a\n' > text.csv
printf 'x,y,z\n1,2,nan\n' > nan.csv
printf 'id,x,y,z\n1,1,2,3\n1,1,2,3\n' > twice.csv
printf 'x,y,z,n:uint8\n1,2,3,256\n' > large.csv
printf 'x,y,z,n:uint64\n1,2,3,4\n' > type.csv
printf 'x,y,z,Name\n1,2,3,4\n' > name.csv
printf 'x,y,z\n"1,2,3\n' > quote.csv
printf '' > empty.csv
for file in short row text nan twice large type name quote empty absent; do
  status dolium annotations import $file.csv set
done
status dolium annotations import --dimensions x,y short.csv set
status dolium annotations import --relationships a short.csv set
ls -A
