make_objects obj 5 17 720575940
dolium mesh import --no-summary --from obj obj m
dolium mesh import --no-summary --from obj --sharded obj s
dolium mesh import --no-summary --from obj --legacy obj l
dolium mesh ls m
dolium mesh ls -l s | sed 's/ *[0-9]*$//'
dolium mesh ls -l l
dolium mesh ls --json l
dolium mesh ls -l --json m | sed 's/"bytes":[0-9]*/"bytes":BYTES/'
dolium info s | grep -v bits
rm l/info
dolium mesh ls l
status dolium mesh ls obj
status dolium mesh ls missing
status dolium skeleton ls m
