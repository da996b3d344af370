dolium completion zsh > _dolium
zsh -n _dolium && echo taken
# What it hands to zsh, for the words given.
cat > complete.zsh <<'END'
compdef() { print "compdef $*" }
source ./_dolium
_describe() { print -l -- "${next[@]%%:*}" }
_arguments() { shift; print -l -- "${@%%\[*}" }
_files() { print "files $*" }
complete_words() {
  words=("$@")
  CURRENT=$#
  PREFIX=${words[-1]}
  print -- "> $*"
  _dolium
}
complete_words dolium ''
complete_words dolium volume ''
complete_words dolium help cas ''
complete_words shardpack ''
complete_words dolium completion ''
complete_words dolium --cache fo
complete_words dolium --cache folder rm --
complete_words shardpack view --
END
zsh -f complete.zsh
