make_export e
dolium info e
dolium info --json e/s0/0_0_0.arrow
