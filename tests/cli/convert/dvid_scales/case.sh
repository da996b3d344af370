# Scales keep numbers, sizes and resolutions; --force removes what is an export's alone.
make_export e
mkdir one
cp -r e/s1 one
dolium convert --no-summary --to dvid one x
ls x
dolium volume info x
dolium volume info --spec e/spec.json e/s1
without_sizes dolium convert --force --to dvid e x
ls x
touch x/notes.csv
status dolium convert --force --to dvid e x
mkdir x/mine
mv x/notes.csv x/mine/0_0_0.csv
status dolium convert --force --to dvid e x
status dolium convert --to dvid --supervoxels e y
status dolium convert --to dvid --layout seed --csv dvid e y
