make_files files 3
dolium ls -l files
