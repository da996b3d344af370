# What cannot be reached is not damaged: exit status 3, as for volumes and sets.
if [ "$(id -u)" = 0 ]; then
  # Nothing is closed to root but for this.
  without_rights() { setpriv --bounding-set=-dac_override,-dac_read_search "$@"; }
else
  without_rights() { "$@"; }
fi
dolium cas init store
export DOLIUM_STORE=store
make_files in 4
touch -h -d @1700000000 in/* in
dolium cas put --no-owners --no-summary in
xorb=$(find store/xorbs -name '*.xorb')
chmod 000 "$xorb"
status without_rights dolium cas verify
status without_rights dolium cas verify --json --no-summary | head -1
without_rights dolium cas verify --json | grep summary
status without_rights dolium verify store | tail -2
without_rights dolium verify --json store | grep summary
# Beside damage it is damage.
printf '{}' > store/names/in/00000001-*.json
status without_rights dolium cas verify | tail -2
