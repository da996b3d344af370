dolium info missing
