make_set set 4
dolium put set 99 <(echo hi)
dolium cat set 99
mkfifo pipe
echo later > pipe &
dolium put --force set 99 pipe
dolium cat set 99
