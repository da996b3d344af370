cat > a.csv << 'END'
id,x,y,z,score,kind:uint8,color:rgb,pre
7,1,2,3,0.5,4,#ff0080,10 11
0,10,20,30.5,-1,255,#000000,
18446744073709551615,5,5,5,,,,10
END
dolium annotations import --unsharded --dimensions x:8nm,y:8nm,z:40nm --relationships pre a.csv set
find set -type f | sort
cat set/info
dolium annotations info set
dolium ls set
dolium annotations ls set
dolium verify set
dolium annotations import --json --limit 1 --relationships pre a.csv sharded | sed 's/"stored_bytes":[0-9]*/"stored_bytes":SIZE/'
dolium verify --no-summary sharded && dolium annotations query --json --box :,:,: sharded | sort
