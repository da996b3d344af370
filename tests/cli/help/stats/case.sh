dolium stats --help
