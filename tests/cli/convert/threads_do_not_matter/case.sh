make_set one 100 -j 1
make_set four 100 -j 4 --memory 1k
diff -r one four && echo the same
