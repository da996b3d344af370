status dolium task '{"no": "task"}'
status dolium task 'not JSON'
status dolium task < /dev/null
