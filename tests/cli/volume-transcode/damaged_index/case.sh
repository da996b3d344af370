# Shards whose index is damaged: jobs go past them with --skip-damaged, and say where they are.
make_array a.npy 32 8 8 uint16 'x + 1'
cat > spec.json << 'END'
{"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 0,
 "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"}
END
dolium volume ingest --no-summary --scales 1 --chunk-size 8,8,8 --to-spec spec.json --encoding raw a.npy good
ls good/1_1_1
damage() {
  rm -rf v out
  cp -r good v
  rm v/1_1_1/1.shard
  case $1 in
    cut) head -c 10 good/1_1_1/1.shard > v/1_1_1/1.shard ;;
    empty) : > v/1_1_1/1.shard ;;
    link) ln -s nowhere v/1_1_1/1.shard ;;
    pipe) mkfifo v/1_1_1/1.shard ;;
    folder) mkdir v/1_1_1/1.shard ;;
    minishard) cp good/1_1_1/1.shard v/1_1_1/1.shard
      overwrite v/1_1_1/1.shard 12 '\377' ;;
  esac
}
for kind in cut empty link pipe folder minishard; do
  echo "$kind"
  damage $kind
  status dolium volume transcode -j 1 v out
  # The same job goes on, and leaves out what is damaged.
  without_sizes status dolium volume transcode --skip-damaged v out
  dolium volume cutout --no-summary --force --box 14:18,0:1,0:1 out -o row.raw && numbers row.raw uint16
  rm -rf out
  without_sizes status dolium volume transcode --skip-damaged --chunk-size 4,4,4 v out
  without_sizes status dolium volume downsample --skip-damaged --scales 2 v
  status dolium volume cutout --no-summary --force --scale 1 --box 7:9,0:1,0:1 v -o row.raw && numbers row.raw uint16
done
