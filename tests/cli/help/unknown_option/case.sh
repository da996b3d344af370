status dolium verify --qick set
status dolium verify --frobnicate set
status dolium ls -x set
