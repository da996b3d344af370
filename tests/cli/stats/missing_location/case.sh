dolium stats missing
