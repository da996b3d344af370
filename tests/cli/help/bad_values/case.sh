status dolium verify -j many set
status dolium verify --sample 0 set
status dolium verify --sample 101% set
status dolium convert --shard-size 1XB a b
status dolium convert --hash md5 a b
status dolium ls set --format
status dolium verify --progress sometimes set
