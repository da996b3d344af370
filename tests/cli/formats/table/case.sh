dolium formats
