# gzip everywhere; each value comes back as it was.
make_set set 40 --data-encoding gzip --minishard-index-encoding gzip
for ((i = 0; i < 40; ++i)); do
  dolium cat set $i | cmp - set.files/$i || echo "$i differs"
done
echo done
