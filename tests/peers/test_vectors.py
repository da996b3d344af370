"""Pairs of input and output of the sharded format, collected from its other implementations."""

import json
import pathlib

import dolium
import pytest

import program
from sharded_sets import make_spec

FILE = pathlib.Path(__file__).parents[3] / "shared" / "formats" / "neuroglancer-vectors.json"


@pytest.fixture(scope="module")
def vectors():
    if not FILE.exists():
        pytest.skip(f"there is no {FILE}")
    return json.loads(FILE.read_text())


def test_murmur(vectors):
    spec = dolium.ShardingSpec(0, 32, 32, "murmurhash3_x86_128")
    cases = vectors["murmur_hash64_seed0"]["cases"]
    cases = {int(case["key"]): int(case["hash"], 16) for case in cases}
    for case in vectors["murmurhash3_x86_128_of_uint64le"]:
        if case["seed"] == 0:
            h1, h2 = (int(word, 16) for word in case["h1_h2_h3_h4"][:2])
            cases[case["key"]] = h1 | h2 << 32
    assert len(cases) > 15
    for key, hash in cases.items():
        assert spec.place(key) == (hash >> 32, hash & 0xFFFFFFFF), key


def test_shard_location(vectors):
    cases = vectors["shard_location"]
    assert len(cases) >= 10
    for case in cases:
        spec = dolium.ShardingSpec.from_json(case["spec"])
        shard, minishard = spec.place(int(case["key"]))
        assert minishard == case["minishard"], case
        assert spec.shard_name(shard) == case["shard_file"], case
        assert shard == case.get("shard_number", shard), case


def test_whole_shard(vectors, tmp_path):
    case = vectors["shard_file_raw"]
    chunks = {int(entry["id"]): bytes.fromhex(entry["data"]) for entry in case["entries"]}
    dolium.write_sharded(tmp_path / "ours", case["spec"], chunks)
    ours = (tmp_path / "ours" / "0.shard").read_bytes()
    assert ours == bytes.fromhex(case["tensorstore_layout"]["file"])

    theirs = tmp_path / "cloud_volume"
    theirs.mkdir()
    (theirs / "0.shard").write_bytes(bytes.fromhex(case["cloud_volume_layout"]["file"]))
    assert dict(dolium.open(theirs, sharding=case["spec"]).items()) == chunks


def _number(text):
    return int(str(text), 0)


def test_minishard_index(vectors, tmp_path):
    """A shard of one minishard, whose index is the vector's, lists the vector's entries."""
    cases = [case for case in vectors["minishard_index_encode"] if case["entries"]]
    assert len(cases) >= 2
    for number, case in enumerate(cases):
        index = bytes.fromhex(case["bytes"])
        end = max(_number(entry["end"]) for entry in case["entries"])
        body = bytes(range(end))
        shard_index = end.to_bytes(8, "little") + (end + len(index)).to_bytes(8, "little")
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "0.shard").write_bytes(shard_index + body + index)
        (folder / "spec").write_text(json.dumps(make_spec((0, 0, 0))))
        expected = {
            _number(entry["id"]): body[_number(entry["start"]) : _number(entry["end"])]
            for entry in case["entries"]
        }
        assert dict(dolium.open(folder, sharding=folder / "spec").items()) == expected
        listed = program.json_lines("ls", "--spec", folder / "spec", folder)
        assert [(int(row["key"]), row["offset"] - 16) for row in listed] == [
            (_number(entry["id"]), _number(entry["start"])) for entry in case["entries"]
        ]


def test_minishard_index_that_is_damaged(vectors, tmp_path):
    cases = [case for case in vectors["minishard_index_decode_errors"] if "bytes" in case]
    assert {case["encoding"] for case in cases} == {"raw", "gzip"}
    for case in cases:
        folder = tmp_path / case["encoding"]
        folder.mkdir()
        index = bytes.fromhex(case["bytes"])
        rows = (0).to_bytes(8, "little") + len(index).to_bytes(8, "little")
        (folder / "0.shard").write_bytes(rows + index)
        damaged = dolium.open(folder, sharding=make_spec((0, 0, 0), index=case["encoding"]))
        with pytest.raises(dolium.CorruptError):
            damaged[1]
        assert damaged.verify().errors == 1
