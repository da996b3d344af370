dolium put --help
