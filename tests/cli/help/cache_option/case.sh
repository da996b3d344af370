# --cache stands before or after the verb, and is no argument of it.
make_set set 3
dolium --cache here ls set
dolium ls --cache=here,2GB set
status dolium ls set --cache
status dolium --cache=,5GB ls set
status dolium --cache here,10 ls set
DOLIUM_CACHE=here,10 status dolium ls http://localhost:1/set
ls
