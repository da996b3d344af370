dolium formats --help
