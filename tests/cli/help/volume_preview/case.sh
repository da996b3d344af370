dolium volume preview --help
