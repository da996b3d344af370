dolium convert --help
