dolium volume
dolium volume --help | cmp - <(dolium volume) && echo the same
dolium help volume | cmp - <(dolium volume) && echo the same
dolium help volume cutout | cmp - <(dolium volume cutout --help) && echo the same
status dolium volume igest a b
status dolium volume frobnicate
status dolium volume --json
status dolium volme
status dolium help volume frobnicate
status dolium help --man volume
status dolium volume ingest a
status dolium volume cutout --bx 1 v
