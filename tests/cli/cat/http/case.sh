make_set set 8 --data-encoding gzip
serve
at_url dolium cat $url/set 2
at_url dolium cat $url/set 8
at_url dolium cat precomputed://$url/set 1
