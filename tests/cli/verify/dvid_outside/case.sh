# Blocks outside of the volume that the spec has are a warning.
make_export e
sed -i 's/\b130\b/128/' e/spec.json
without_sizes dolium verify e
status dolium verify --no-summary --strict --json e
echo '{}' > e/spec.json
status dolium verify --no-summary e
