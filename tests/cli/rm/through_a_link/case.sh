mkdir -p pf elsewhere
echo a > pf/a
echo b > elsewhere/b
ln -s ../elsewhere pf/linkdir
dolium ls pf
status dolium rm pf linkdir/b
status dolium put pf linkdir/c elsewhere/b
ls elsewhere
