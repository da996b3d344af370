make_set set 3
echo fragments > fragments
echo manifest > manifest
dolium convert --no-summary --to files set files
dolium put --preceding fragments files 7 manifest
dolium ls --json files | grep '"key":"7"'
dolium cat files 7
dolium cat --preceding files 7
dolium cat --preceding files 1
