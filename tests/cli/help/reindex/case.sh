dolium reindex --help
