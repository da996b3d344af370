dolium cas init store
export DOLIUM_STORE=store
make_files in 4
dolium cas put --no-summary --name a in/1
dolium cas put --no-summary --name b in/2
dolium cas put --no-summary --name b in/3
status dolium cas rm b
dolium cas rm b@1
dolium cas gc
dolium cas gc --dry-run --grace 0s
dolium cas gc --grace 0s
dolium cas gc --grace 0s --json
dolium cas ls
dolium cas verify --deep
dolium cas get b -o -
status dolium cas gc --grace soon
