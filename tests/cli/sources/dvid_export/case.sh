make_export e
dolium info e
dolium ls e
dolium stats e | head -3
without_sizes dolium verify e
