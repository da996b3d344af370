make_files files 5
dolium convert --plan --to neuroglancer files set > tasks
status dolium verify set
dolium task < tasks
status dolium verify set
