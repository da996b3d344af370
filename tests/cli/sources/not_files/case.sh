# Pipes and links that lead nowhere are part of a folder: nothing passes over them silently.
make_files set 2
ln -s nowhere set/link
mkfifo set/pipe
status dolium ls set
status dolium verify set
status dolium stats set > stats.txt
tail -1 stats.txt
status dolium convert set out
status dolium convert --skip-damaged set out
ls out
status dolium cat set pipe
status dolium info set/pipe
