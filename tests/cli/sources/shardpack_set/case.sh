make_samples in 4
mkdir set
shardpack create --no-summary --reproducible --input in --output set/t-000000.shardpack
dolium info set
dolium ls set
dolium stats set | head -3
dolium verify set
