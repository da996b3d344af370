make_set set 40
dolium convert --shard-size 2k set smaller
ls smaller | grep -c shard
dolium verify smaller
dolium convert --no-summary --to files smaller back
diff -r set.files back && echo the same
