make_set set 8
status dolium cat -o out set 2
cat out
status dolium cat -o out set 1
status dolium cat --json -o out set 1
cat out
status dolium cat --force -o out set 1
cat out
status dolium cat --json --force -o out set 0
status dolium cat -o missing/out set 0
ls
