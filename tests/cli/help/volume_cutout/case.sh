dolium volume cutout --help
