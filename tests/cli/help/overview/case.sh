dolium --help
