dolium task --help
