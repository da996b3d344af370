dolium cas init store
mkdir in && echo text > in/file && mkfifo in/pipe
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
status dolium cas put --no-summary --store store in
dolium cas ls --store store in
