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
complete_words dolium vol
complete_words dolium volume ''
complete_words dolium volume tr
complete_words dolium help volume in
complete_words dolium volume ingest --encoding j
complete_words dolium volume ingest --enc
touch file1
complete_words dolium ls fi
# shardpack goes on as `dolium pack` does.
complete_pack() {
  COMP_WORDS=(shardpack "$@")
  COMP_CWORD=$#
  _shardpack
  echo "${COMPREPLY[@]}"
}
complete_pack cr
complete_pack create --comp
complete_pack create --compression z
# --cache takes a folder, wherever it stands, and hides nothing.
mkdir folder1
complete_words dolium --ca
complete_words dolium --cache fo
complete_words dolium --cache = fo
complete_words dolium --cache folder1,5GB ver
complete_words dolium ls --ca
complete_words dolium ls --cache folder1 fi
complete_words dolium --cache folder1 volume tr
complete_pack create --cache fo
