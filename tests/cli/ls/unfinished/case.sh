make_set set 5
echo '{}' > set/.dolium-unfinished
status dolium ls set
status dolium ls --unfinished set
