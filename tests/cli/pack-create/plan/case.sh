# There are no tasks, and it says why.
make_samples in 2
status shardpack create --plan -i in -o t.shardpack
status shardpack import --plan --from folder in t.shardpack
ls
