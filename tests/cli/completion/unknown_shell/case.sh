dolium completion ksh
