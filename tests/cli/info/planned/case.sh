make_files files 5
dolium convert --plan --to neuroglancer files set > tasks
dolium info set
