# Whoever reads a key while its shard is replaced gets the old or the new value, and no error.
make_set set 5
echo old > old
echo new > new
dolium put --force set 2 old
(for i in 1 2 3 4 5; do dolium put --force set 2 new; dolium put --force set 2 old; done) &
for i in 1 2 3 4 5 6 7 8 9 10; do
  dolium cat set 2 > value || echo "exit status $?"
  cmp -s value old || cmp -s value new || echo "another value"
done
wait
dolium cat set 2
