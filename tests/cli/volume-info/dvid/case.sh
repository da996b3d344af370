# By its spec.json; without one, by its blocks.
make_export e
dolium volume info e
rm e/spec.json
dolium volume info --resolution 4,4,40 e
make_export x --layout seed
dolium volume info --coordinates block x/s1/0_0_0.arrow | tail -1
cat e/s1/0_0_0.arrow e/s1/0_0_0.arrow > twice
mv twice e/s1/0_0_0.arrow
status dolium volume info e 2> /dev/null
dolium volume info --skip-damaged e | tail -1
