source <(dolium completion bash)
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _dolium
  echo "${COMPREPLY[@]}"
}
complete_words dolium ver
complete_words dolium convert --to ''
complete_words dolium verify --q
complete_words dolium convert --hash mur
complete_words dolium help com
touch file1
complete_words dolium ls fi
