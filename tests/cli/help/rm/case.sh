dolium rm --help
