# What a version was called, no other is called later.
dolium cas init store
export DOLIUM_STORE=store
echo text > file
dolium cas put --no-summary file
dolium cas put --no-summary file
dolium cas rm file@2
dolium cas put --no-summary file
dolium cas log --json file | grep -o '"sequence":[0-9]*'
dolium cas rm --all file
dolium cas ls
dolium cas put --no-summary file
dolium cas log --json file | grep -o '"sequence":[0-9]*'
