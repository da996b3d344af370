make_objects obj 5 17 23
dolium mesh import --no-summary --from obj --sharded obj m
dolium mesh export --to ply m all
ls all
dolium mesh export --to stl --json m 5 17 some
echo '17, 23 # two' > ids.txt
dolium mesh export --to obj --segments ids.txt m listed
ls listed
dolium mesh export --to ply m 5 - | cmp - all/5.ply && echo the same
dolium mesh export --to ply m 5 one.ply && cmp one.ply all/5.ply
status dolium mesh export --to ply m 5 17 two.ply
status dolium mesh export --to ply m all
dolium mesh export --to ply --force m 5 all
status dolium mesh export --to ply m 5 6 7 gaps
ls gaps
status dolium mesh export m all
status dolium mesh export --to obj --segments obj/5.obj m wrong
