# With --json, blocks of exports have their labels and supervoxels, as `cat --lists` has them.
for name in dvid-one-row stream-plain; do
  cp "$CASE/../../../../src/dolium/formats/dvid/testdata/good/$name.arrow" .
  dolium ls --json $name.arrow > $name
  head -1 $name | cut -c-240
  dolium ls $name.arrow | while read -r key; do dolium cat --lists $name.arrow "$key"; done > lists
  python3 - $name << 'END'
import json, sys

listed = [json.loads(line) for line in open(sys.argv[1])]
shown = [json.loads(line) for line in open("lists")]
assert len(listed) == len(shown) > 0
for one, other in zip(listed, shown):
    for name in ("key", "labels", "supervoxels"):
        assert one[name] == other[name], (one, other)
print(len(listed), "blocks,", sum(len(one["supervoxels"]) for one in listed), "supervoxels of",
      len({label for one in listed for label in one["labels"]}), "labels")
END
done
