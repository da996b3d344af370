dolium completion --help
