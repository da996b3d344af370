dolium verify --help
