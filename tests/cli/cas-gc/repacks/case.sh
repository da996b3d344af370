dolium cas init store
export DOLIUM_STORE=store
make_files in 200
dolium cas put --no-summary --name all in
dolium cas put --no-summary --name one in/7
dolium cas rm all
size() { find store/xorbs -name '*.xorb' -printf '%s\n' | awk '{ sum += $1 } END { print sum < 1000 }'; }
dolium cas gc --grace 0s --repack never
size
{ dolium cas gc --grace 0s --repack 50% --dry-run
  dolium cas gc --grace 0s; } | sed 's/[0-9.]* kB/SIZE/'
size
dolium cas verify
dolium cas get one -o - | cmp - in/7
dolium cas put --json --name one in/7 | grep -o '"new_chunks":[0-9]*'
status dolium cas gc --repack most
status dolium cas gc --repack 101%
