make_array a.npy 4 4 4 uint32 'x // 2 + 1'
dolium volume ingest --no-summary --type segmentation a.npy seg
cat > p.csv << 'END'
id,label,size,tags,note,depth:int8
1,"a, b",3,soma big,x,-4
2,c,70000,,"say ""hi""",5
END
dolium properties import p.csv seg
cat seg/segment_properties/info
python3 -c 'import json; print(json.load(open("seg/info"))["segment_properties"])'
dolium properties export seg out.csv && cat out.csv
dolium properties import --no-summary out.csv folder && dolium properties export folder - | cmp - out.csv && echo the same
status dolium properties import p.csv seg
dolium properties import --json --force p.csv seg
dolium verify --no-summary seg folder
dolium info folder
overwrite folder/info 46 'XXXX'
status dolium verify --no-summary folder
printf 'id,label\n1,a\n1,b\n' > twice.csv
printf 'label\na\n' > none.csv
printf 'id,n:uint8\n1,300\n' > large.csv
for file in twice none large; do status dolium properties import $file.csv bad; done
ls
