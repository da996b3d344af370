make_files files 5
dolium convert --plan --to neuroglancer files set > tasks
dolium info set | grep state
dolium info --json set | grep -o '"state":"[a-z]*"'
