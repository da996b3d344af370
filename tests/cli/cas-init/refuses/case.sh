dolium cas init --json store
status dolium cas init store
status dolium cas stats --store store/xorbs
status dolium cas ls
