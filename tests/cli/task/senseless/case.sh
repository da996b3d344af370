dolium task '{"no": "task"}' 2>&1 | grep -o '^dolium: not a task'
dolium task 'not JSON' 2>&1 | grep -o '^dolium: not a task'
dolium task 'not JSON' 2> /dev/null || echo "exit status $?"
status dolium task < /dev/null
