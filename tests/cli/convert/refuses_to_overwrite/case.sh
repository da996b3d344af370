make_set set 8
make_files other 3
status dolium convert --to neuroglancer other set
status dolium convert --json --to neuroglancer other set
dolium ls set | wc -l
