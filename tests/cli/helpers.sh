# Functions for cases. Data are made by the case itself; sizes and bytes never change.

# make_files FOLDER COUNT: files 0 ... COUNT-1; file i is the line "chunk i", i+1 times.
make_files() {
  mkdir -p "$1"
  local i j
  for ((i = 0; i < $2; ++i)); do
    for ((j = 0; j <= i; ++j)); do echo "chunk $i"; done > "$1/$i"
  done
}

# make_set FOLDER COUNT [OPTION...]: a Neuroglancer set of those chunks: 2 shards of 2
# minishards, raw unless options say otherwise.
make_set() {
  local folder=$1 count=$2
  shift 2
  make_files "$folder.files" "$count"
  dolium convert --no-summary --to neuroglancer --hash identity --preshift-bits 0 \
    --minishard-bits 1 --shard-bits 1 --minishard-index-encoding raw --data-encoding raw \
    "$@" "$folder.files" "$folder"
}

# overwrite FILE OFFSET BYTES: BYTES as printf takes them.
overwrite() {
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# status COMMAND...: runs it and tells its exit status.
status() {
  "$@"
  echo "exit status $?"
}

# damage_payload SET KEY: overwrites four bytes within the stored value.
damage_payload() {
  local object offset
  read -r object offset < <(dolium ls --json "$1" | python3 -c '
import json, sys
for entry in map(json.loads, sys.stdin):
    if entry["key"] == sys.argv[1]:
        print(entry["object"], entry["offset"])' "$2")
  overwrite "$object" $((offset + 12)) 'XXXX'
}

# serve: serves the case's folder over HTTP until the case ends, and sets $url.
serve() {
  python3 "$(dirname "${BASH_SOURCE[0]}")/range_server.py" .port &
  trap "kill $!" EXIT
  while [ ! -e .port ]; do sleep 0.05; done
  url=http://127.0.0.1:$(cat .port)
}

# at_url COMMAND...: runs it, with the port left out of its output.
at_url() {
  "$@" > .out 2> .err
  local exit_status=$?
  sed "s|$url|URL|g" .out
  sed "s|$url|URL|g" .err >&2
  echo "exit status $exit_status"
}
