# One flipped bit in a xorb.
head -c 300000 /dev/zero | tr '\0' a > file
dolium cas init store
dolium cas put --no-summary --store store file > put.txt
dolium verify --no-summary store && echo good
xorb=$(find store/xorbs -type f | head -1)
chmod u+w "$xorb"
python3 - "$xorb" << 'END'
import sys
bytes = bytearray(open(sys.argv[1], "rb").read())
bytes[20] ^= 1
open(sys.argv[1], "wb").write(bytes)
END
dolium verify --no-summary store > out.txt 2>&1
echo "exit status $?"
grep -c . out.txt
