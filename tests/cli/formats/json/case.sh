dolium formats --json
