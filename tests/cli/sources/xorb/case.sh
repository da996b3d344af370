cp -r "$CASE/../../../../src/dolium/formats/xet/testdata/good" store
xorb=$(echo store/xorbs/default.*)
dolium info $xorb
dolium ls $xorb | head -3
dolium stats $xorb | head -4
dolium verify $xorb
