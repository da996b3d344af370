dolium cas init store
echo hello | dolium cas put --store store --name greeting - | sed 's/, [^,]* on disk/, SIZE on disk/'
dolium cas get --store store greeting -o -
status dolium cas put --store store -
status dolium cas put --store store --name x nothing
status dolium cas put --name x nothing
status dolium cas put --store nowhere --name x store
