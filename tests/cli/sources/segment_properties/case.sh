# Segment properties: one file, of all segments.
printf 'id,label,size\n1,a,3\n2,b,70000\n' > p.csv
dolium properties import --no-summary p.csv set
dolium info set
dolium ls set
dolium stats set | head -3
dolium verify set
dolium cat set info
