export HOME=$PWD
dolium completion fish > dolium.fish
fish -n dolium.fish && echo taken
complete_words() {
  echo "> $1"
  fish --no-config -c 'source dolium.fish; complete -C $argv[1]' "$1" | cut -f 1
}
complete_words 'dolium ver'
complete_words 'dolium volume '
complete_words 'dolium help cas r'
complete_words 'shardpack re'
complete_words 'dolium completion '
complete_words 'dolium convert --to '
complete_words 'dolium verify --q'
complete_words 'dolium --cache folder volume tr'
complete_words 'shardpack create --compression z'
complete_words 'dolium volume ingest --enc'
