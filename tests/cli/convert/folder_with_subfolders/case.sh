mkdir -p in/below/deeper
echo a > in/a
echo b > in/below/b
echo c > in/below/deeper/c
dolium ls in
dolium cat in below/deeper/c
dolium convert in out && diff -r in out && echo the same
dolium convert --no-summary --to neuroglancer in set
