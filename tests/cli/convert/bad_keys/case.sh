mkdir files
echo text > files/name
dolium convert --to neuroglancer files set
