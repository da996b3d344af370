dolium cas init store
mkdir in && echo text > in/file && mkfifo in/pipe
status dolium cas put --store store in
dolium cas ls --store store in
