dolium cas init store
mkdir in && echo text > in/file && mkfifo in/pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("in/socket")'
chmod 644 in/*
touch -h -d @1700000000 in/* in
chmod 755 in
status dolium cas put --no-summary --store store in
dolium cas ls --store store in
dolium cas ls --store store -l in | sed 's/  *[0-9a-f]\{64\}$//'
dolium cas get --store store --no-summary in -o out
test -p out/pipe && stat -c '%n %a' out/pipe
status dolium cas get --store store in/pipe -o pipe
