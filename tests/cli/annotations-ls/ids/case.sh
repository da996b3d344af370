printf 'id,x,y,z\n5,1,2,3\n0,4,5,6\n' > a.csv
dolium annotations import --no-summary a.csv set
dolium annotations ls set
dolium annotations ls --json set
status dolium annotations ls absent
