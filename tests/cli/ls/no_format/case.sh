echo text > note.txt
status dolium ls note.txt
status dolium ls -f tar note.txt
