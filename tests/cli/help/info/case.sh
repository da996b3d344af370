dolium info --help
