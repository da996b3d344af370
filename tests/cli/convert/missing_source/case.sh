status dolium convert missing set
ls
