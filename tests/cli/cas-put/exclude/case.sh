dolium cas init store
export DOLIUM_STORE=store
mkdir -p in/src/build in/build in/cache
for file in a.c a.o src/b.c src/b.o src/build/c build/d cache/e; do echo $file > in/$file; done
printf '# objects\n*.o\n\n' > patterns
dolium cas put --no-summary --name set --exclude-file patterns --exclude /build --exclude 'cache/' in
dolium cas ls set
status dolium cas put --name set --exclude '!a.c' in
status dolium cas put --name set --exclude / in
status dolium cas put --name set --exclude-file none in
dolium cas put --no-summary --one-file-system --name set in
dolium cas ls set | wc -l
