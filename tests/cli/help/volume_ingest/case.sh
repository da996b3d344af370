dolium volume ingest --help
