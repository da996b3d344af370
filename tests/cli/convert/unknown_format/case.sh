make_files files 1
dolium convert --to tar files set
