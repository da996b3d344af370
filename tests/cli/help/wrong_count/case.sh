status dolium ls
status dolium ls a b
status dolium cat set
status dolium put set 1
