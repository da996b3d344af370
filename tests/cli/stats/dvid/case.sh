# Labels are counted beside entries.
make_export e
dolium stats e/s1
dolium stats --json e | python3 -c 'import json, sys; print(json.load(sys.stdin)["format_counts"])'
