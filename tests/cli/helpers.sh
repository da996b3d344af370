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

# status COMMAND...: runs it and reports its exit status.
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
  mkfifo .hold
  python3 "$(dirname "${BASH_SOURCE[0]}")/../support/range_server.py" . < .hold > .url &
  exec 9> .hold  # The server ends when nobody holds this any more.
  while [ ! -s .url ]; do sleep 0.05; done
  read -r url < .url
}

# at_url COMMAND...: runs it, with the port left out of its output.
at_url() {
  "$@" > .out 2> .err
  local exit_status=$?
  sed "s|$url|URL|g" .out
  sed "s|$url|URL|g" .err >&2
  echo "exit status $exit_status"
}

# make_array FILE X Y Z TYPE EXPRESSION: a .npy or .raw file of X * Y * Z numbers, x fastest;
# TYPE is one of uint8, uint16, uint32, uint64, EXPRESSION is Python, of x, y and z.
make_array() {
  python3 - "$@" << 'END'
import struct, sys

file, size, kind, rule = sys.argv[1], list(map(int, sys.argv[2:5])), sys.argv[5], sys.argv[6]
letter = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"}[kind]
rule = compile(rule, "rule", "eval")
numbers = [
    eval(rule) for z in range(size[2]) for y in range(size[1]) for x in range(size[0])
]
with open(file, "wb") as out:
    if file.endswith(".npy"):
        width = struct.calcsize(letter)
        descr = f"{'<' if width > 1 else '|'}u{width}"
        head = f"{{'descr': '{descr}', 'fortran_order': True, 'shape': {tuple(size)}, }}"
        head = head.ljust(117) + "\n"
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    out.write(struct.pack(f"<{len(numbers)}{letter}", *numbers))
END
}

# numbers FILE TYPE: the numbers of a .npy or .raw file, as they lie there, on one line.
numbers() {
  python3 - "$@" << 'END'
import struct, sys

data = open(sys.argv[1], "rb").read()
if data.startswith(b"\x93NUMPY"):
    data = data[10 + struct.unpack("<H", data[8:10])[0] :]
letter = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"}[sys.argv[2]]
print(*struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))
END
}

# without_sizes COMMAND...: runs it; what was stored, which depends on the compressor,
# reads SIZE.
without_sizes() {
  "$@" | sed -E 's/(objects?|shards?), [0-9.]+ k?B/\1, SIZE/; s/("(value|stored)_bytes"):[0-9]+/\1:SIZE/g
    s/read \([0-9.]+ k?B\)/read (SIZE)/'
  return "${PIPESTATUS[0]}"
}

# make_samples FOLDER COUNT: a directory s0000, s0001, ... for each sample, with text.txt, of
# i+1 lines, and meta.json.
make_samples() {
  local i j folder
  for ((i = 0; i < $2; ++i)); do
    folder=$(printf '%s/s%04d' "$1" $i)
    mkdir -p "$folder"
    for ((j = 0; j <= i; ++j)); do echo "line $j of $i"; done > "$folder/text.txt"
    echo "{\"id\": $i}" > "$folder/meta.json"
  done
}

# make_pack SHARD COUNT [OPTION...]: those samples, packed.
make_pack() {
  local shard=$1 count=$2
  shift 2
  make_samples "$shard.files" "$count"
  shardpack create --no-summary --reproducible --input "$shard.files" --output "$shard" "$@"
}

# record_offset SHARD NUMBER: where a record begins.
record_offset() {
  shardpack ls --json --range "$2:$(($2 + 1))" "$1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["offset"])'
}

# make_export FOLDER [OPTION...]: a DVID export of 2 scales, 3 x 2 x 1 blocks at the
# finer: labels are x // 20 + 100 * (y // 30) + 1; 130 x 70 x 40 voxels.
make_export() {
  local folder=$1
  shift
  make_array "$folder.npy" 130 70 40 uint64 'x // 20 + 100 * (y // 30) + 1'
  dolium volume ingest --no-summary --resolution 8,8,8 --scales 2 --factor 2,2,2 \
    "$folder.npy" "$folder.volume"
  dolium convert --no-summary --to dvid --shard-side 128 "$@" "$folder.volume" "$folder"
}

# make_objects FOLDER ID...: an OBJ file of a tetrahedron for each id.
make_objects() {
  local folder=$1 id
  shift
  mkdir -p "$folder"
  for id in "$@"; do
    printf 'v %s 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' \
      "-$((id % 50)).5" > "$folder/$id.obj"
  done
}

# make_swc FOLDER ID...: an SWC file of a small tree for each id.
make_swc() {
  local folder=$1 id
  shift
  mkdir -p "$folder"
  for id in "$@"; do
    printf '1 1 %s 0 0 5 -1\n2 3 10 0 0 4 1\n3 3 20 0 0 3 2\n4 3 10 10 5 2 2\n' \
      "-$((id % 50)).25" > "$folder/$id.swc"
  done
}
