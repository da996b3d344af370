status dolium ls missing
status dolium ls --json missing
