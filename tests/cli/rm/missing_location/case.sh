dolium rm missing 1
