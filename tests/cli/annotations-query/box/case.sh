cat > lines.csv << 'END'
id,x1,y1,x2,y2,width:uint16,seg
1,0,0,10,10,3,5
2,20,0,20,30,4,5 6
3,40,40,41,41,5,
END
dolium annotations import --no-summary --type line --dimensions x:1um,y:1um --relationships seg lines.csv set
dolium annotations query --box 5:20,5:6 set
dolium annotations query --json --box 39:,: set
dolium annotations query --related seg=5 set
dolium annotations query --id 3 --id 1 set
status dolium annotations query --id 4 set
status dolium annotations query --box 1:2 set
status dolium annotations query --related pre=5 set
status dolium annotations query set
status dolium annotations query --box :,: lines.csv
