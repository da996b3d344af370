# An export is checked before anything is written.
make_export e
sed -i 's/\b130\b/128/' e/spec.json
without_sizes dolium volume transcode e v
cat e/s1/0_0_0.arrow e/s1/0_0_0.arrow > twice
mv twice e/s1/0_0_0.arrow
status dolium volume transcode e w
ls -d w
without_sizes dolium volume transcode --skip-damaged --scale 1 e w
