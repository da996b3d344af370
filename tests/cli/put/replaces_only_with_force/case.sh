make_set set 4
echo new > new
status dolium put set 1 new
dolium cat set 1
status dolium put --force set 1 new
dolium cat set 1
status dolium put --json --force set 1 new
