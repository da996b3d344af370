dolium ls --help
