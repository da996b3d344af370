# A folder of annotations: by id, by what they are related to, and by place.
printf 'x,y,z,s:uint8,seg\n1,2,3,1,4\n4,5,6,2,4\n' > a.csv
dolium annotations import --no-summary --unsharded --relationships seg a.csv set
dolium info set
dolium ls set
dolium stats set | head -3
dolium verify set
dolium cat set by_id/1 | od -An -tu1
status dolium cat set by_id/9
