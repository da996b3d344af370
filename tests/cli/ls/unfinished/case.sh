make_files files 5
dolium convert --plan --to neuroglancer files set > tasks
status dolium ls set
dolium task < tasks
status dolium ls --unfinished set
