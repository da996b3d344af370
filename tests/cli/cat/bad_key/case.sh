make_set set 8
status dolium cat set seven
status dolium cat set -5
status dolium cat set 18446744073709551616
