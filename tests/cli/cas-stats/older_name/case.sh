dolium cas init store
export DOLIUM_STORE=store
make_files in 4
dolium cas put --no-summary in
dolium cas stats --json > new
dolium cas stat --json | cmp - new && echo the same
dolium cas --help | grep -w stat || echo not shown
dolium help cas stat | head -1
