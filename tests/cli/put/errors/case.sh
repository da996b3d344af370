make_set set 4
echo new > new
status dolium put missing 1 new
status dolium put set 9 missing
status dolium put set nine new
status dolium put --preceding missing set 9 new
dolium ls set
