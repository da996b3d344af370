# A pattern that excludes nothing is named; the exit status stays. Files of patterns are
# meant for many folders.
dolium cas init store
export DOLIUM_STORE=store
mkdir in
echo a > in/a.c
echo b > in/a.o
printf '*.obj\n' > patterns
status dolium cas put --no-summary --name set --exclude '*.o' --exclude '*.tmp' --exclude 'a.o/' --exclude-file patterns in
status dolium cas put --json --no-summary --name set --exclude /build in
status dolium cas put --no-summary --name one --exclude '*.c' in/a.c
dolium cas ls set
