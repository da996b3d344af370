make_objects obj 5 17
dolium mesh import --no-summary --from obj --legacy obj m
dolium mesh get m 5 5.obj
cmp 5.obj <(sed 's/^v \(.*\)$/v \1/' obj/5.obj) && echo the same
dolium mesh get m 5 | head -c 36
dolium mesh get --json m 17 17.glb
head -c 4 17.glb; echo
status dolium mesh get m 5 5.obj
dolium mesh get --force m 17 5.obj
status dolium mesh get m 6
status dolium mesh get m five
status dolium mesh get m 5 5.off
status dolium mesh get --lod 3 m 5
status dolium mesh get --lod x m 5
