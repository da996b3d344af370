dolium cat --help
