dolium cat missing 1
