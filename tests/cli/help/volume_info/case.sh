dolium volume info --help
