make_set set 20
dolium convert --to files set back
diff -r set.files back && echo the same
