cat > polylines.csv << 'END'
id,points,width:float32,color:rgba,seg
3,0 0;1 2.5;3 4,0.25,#01020304,7 8
9,5 5;6 6,1e-07,#ffffffff,
END
dolium annotations import --no-summary --type polyline --dimensions x:1nm,y:1nm --relationships seg polylines.csv set
dolium annotations export set out.csv
cmp polylines.csv out.csv && echo the same
status dolium annotations export set out.csv
dolium annotations export set - | head -n 1
