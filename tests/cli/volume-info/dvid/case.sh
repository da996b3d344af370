make_export e
dolium volume info e
