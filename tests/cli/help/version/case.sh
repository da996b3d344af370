dolium --version
