# Labels are counted beside entries.
make_export e
dolium stats e/s1 | grep -e label -e supervoxels -e entries -e solid -e 'block bytes' | head -6
dolium stats --json e | python3 -c 'import json, sys; print(json.load(sys.stdin)["format_counts"])'
