make_files files 5
dolium info files
