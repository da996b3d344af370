dolium cas init store
mkdir -p tree/below
echo first > tree/below/a
: > tree/empty
dolium cas put --no-summary --store store --name tree tree
echo second > tree/below/a
dolium cas put --no-summary --store store --name tree tree
dolium convert store out
(cd out && find . -type f | sort)
cat out/tree@1/below/a out/tree@2/below/a
ln -s a tree/link
dolium cas put --no-summary --store store --name tree tree
status dolium convert store other
