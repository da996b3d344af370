dolium
