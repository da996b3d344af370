printf 'x,y,z\n1,2,3\n' > one.csv
printf 'x,y,z\n1,2,3\n4,5,6\n' > two.csv
dolium annotations import --no-summary one.csv set
status dolium annotations import two.csv set
dolium annotations ls set
dolium annotations import --no-summary --force two.csv set
dolium annotations ls set
mkdir other && echo mine > other/file
status dolium annotations import --force two.csv other
ls -A
# What a killed import left beside its target, and what another operation did.
mkdir third.dolium-new fourth.dolium-new
printf '{\n  "operation": "annotations"\n}' > third.dolium-new/.dolium-unfinished
echo x > third.dolium-new/left
dolium annotations import --no-summary one.csv third && ls -A third
printf '{\n  "operation": "write"\n}' > fourth.dolium-new/.dolium-unfinished
status dolium annotations import one.csv fourth
ls -A
