dolium volume stats --help
