# JSON cannot hold such names; nothing of them is lost.
dolium cas init store
export DOLIUM_STORE=store
mkdir in
echo text > $'in/\xff'
ln -s $'\xfe' in/link
chmod 755 in
chmod 644 in/?
touch -h -d @1700000000 in/* in
dolium cas put --no-owners --no-summary --name $'n\xfd' in
dolium cas ls --json $'n\xfd'
dolium cas ls --json | grep -o '"name_hex":"[0-9a-f]*"'
rm in/?
touch -d @1700000000 in
dolium cas put --no-owners --no-summary --name $'n\xfd' in
dolium cas diff --json $'n\xfd@1' $'n\xfd@2'
