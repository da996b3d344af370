dolium help --help
