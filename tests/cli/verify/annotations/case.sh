printf 'x,y,z,s:uint8,seg\n1,2,3,1,4\n4,5,6,2,4\n' > a.csv
dolium annotations import --no-summary --unsharded --relationships seg a.csv set
dolium verify set
overwrite set/by_id/0 12 '\x05\x01'
status dolium verify --no-summary set
truncate -s 30 set/by_id/1
status dolium verify --no-summary set
dolium annotations import --no-summary --force --unsharded --relationships seg a.csv set
rm set/spatial0/0_0_0
overwrite set/rel_seg/4 0 '\x01'
status dolium verify --no-summary set
status dolium convert set copy
