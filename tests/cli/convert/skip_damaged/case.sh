make_set set 8 --data-encoding gzip
damage_payload set 2
status dolium convert --to files set back
status dolium convert --to files --skip-damaged set salvaged
ls salvaged
