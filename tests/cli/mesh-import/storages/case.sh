make_objects obj 5 17 23
dolium mesh import --from obj obj m
ls m
dolium mesh import --from obj --json --legacy obj/5.obj obj/17.obj l | sed 's/"stored_bytes":[0-9]*/"stored_bytes":BYTES/'
ls l
dolium mesh export --no-summary --to ply m ply
dolium mesh import --no-summary --from ply ply --sharded s
dolium verify -q m l s
status dolium mesh import --from obj obj m
dolium mesh import --no-summary --from obj --force obj/5.obj m
dolium mesh ls m
status dolium mesh import --from obj --force obj obj
status dolium mesh import --from obj obj/5.obj obj bad
cp obj/5.obj notes.obj
status dolium mesh import --from obj notes.obj bad
echo 'f 1 2 3' > 9.obj
status dolium mesh import --from obj 9.obj bad
status dolium mesh import --from obj obj --bits 12 bad
status dolium mesh import --from obj obj --register bad
status dolium mesh import obj bad
ls
