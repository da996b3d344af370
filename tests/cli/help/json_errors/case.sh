status dolium ls --json
status dolium ls --json --frobnicate set
status dolium ls --json missing
