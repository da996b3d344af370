make_files files 20
dolium convert --to neuroglancer files set
dolium info set
dolium verify set
