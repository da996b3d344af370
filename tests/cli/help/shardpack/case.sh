shardpack --help
shardpack help create | head -3
dolium help pack create | head -3
dolium pack create --help | head -3
shardpack --version
status shardpack
status shardpack creat
status shardpack create --inptu x
status dolium pack creat
