# As clients send it: no footer, and the SHA-256 of every file.
dolium cas init store
export DOLIUM_STORE=store
head -c 300000 /dev/zero | tr '\0' a > file
dolium cas put --no-summary file
dolium cas export --no-summary --upload -o up.mdb --xorbs xorbs
dolium info up.mdb
dolium verify up.mdb
# As hf_xet 1.1.7 to 1.2.0 wrote it: the header announces a footer.
cp up.mdb old.mdb
overwrite old.mdb 40 '\310'
dolium verify old.mdb
cat old.mdb | dolium verify -
dolium cas init other
dolium cas import --store other --name in --xorbs xorbs old.mdb
# Cut short it is no upload, and a wrong SHA-256 is found.
head -c 500 old.mdb > cut.mdb
status dolium verify cut.mdb
cat cut.mdb | status dolium verify -
cp up.mdb wrong.mdb
overwrite wrong.mdb $((48 + 5 * 48)) 'X'
status dolium verify wrong.mdb
dolium cas init third
status dolium cas import --store third --name in --xorbs xorbs wrong.mdb
