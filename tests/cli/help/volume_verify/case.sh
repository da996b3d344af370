dolium volume verify --help
