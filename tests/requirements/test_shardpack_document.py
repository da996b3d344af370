"""What docs/formats/shardpack.md says where readers could differ, held against files that dolium
writes: bytes are looked at with struct, the tables are those of the document."""

import io
import json
import pathlib
import re
import struct

import pytest

import shardpack
import shardpack_reference
from shardpack_walkthrough import footer_of, index_of, run

DOCUMENT = (pathlib.Path(__file__).parents[2] / "docs/formats/shardpack.md").read_text()


def up(value, alignment):
    return -(-value // alignment) * alignment


def members(title):
    """The names in the first column of the table that follows a title."""
    table = DOCUMENT[DOCUMENT.index(f"**{title}**") :].split("\n|---|---|\n", 1)[1]
    names = []
    for line in table.splitlines():
        if not line.startswith("|"):
            return names
        names += re.findall(r"`(\w+)`", line.split("|")[1])
    return names


@pytest.mark.parametrize("align", [8, 64, 4096])
def test_the_size_of_a_tombstone(tmp_path, align):
    with shardpack.Writer(tmp_path / "t.shardpack", align=align) as writer:
        writer.write("a", {"x": b"1"})
        writer.delete("removed/key")
    data = (tmp_path / "t.shardpack").read_bytes()
    _, (_, offset) = index_of(data)
    size, flags, key_length, count = struct.unpack_from("<Q6xB5xH6xI", data, offset)
    assert (flags, key_length, count) == (1, len("removed/key"), 0)
    assert size == up(up(32 + key_length, 8), align) == footer_of(data)["index_offset"] - offset
    assert "`record_size = up(e_0, A)`" in DOCUMENT


def test_entx_leaves_out_aux_entries(tmp_path):
    with shardpack.Writer(
        tmp_path / "d.shardpack", dictionary=1024, compression="zstd", entry_index=True
    ) as writer:
        for number in range(300):
            text = json.dumps({"number": number, "text": "all of them say nearly the same"})
            writer.write(f"{number:04}", {"a.json": text, "b.json": text})
    shard = shardpack_reference.Shard((tmp_path / "d.shardpack").read_bytes())
    entries = shard.section("ENTX", lambda body: shardpack_reference.EntryIndex.decode(body, 300))
    assert "ZDIC" in shard.sections
    assert [name for name, _ in entries.columns] == ["a.json", "b.json"]
    assert entries.regular and len(entries.rows[0]) == 2
    assert "AUX entries are not in it" in DOCUMENT


def test_the_members_of_catalogs_are_documented(tmp_path):
    with shardpack.Writer(tmp_path / "c-000000.shardpack", shard_records=2) as writer:
        for number in range(4):
            writer.write(f"{number}", {"x.txt": "text"})
    run("catalog", "-o", tmp_path / "catalog.json", tmp_path / "c-{000000..000001}.shardpack")
    catalog = json.loads((tmp_path / "catalog.json").read_text())
    documented = members("Catalog")
    assert [*catalog, *catalog["shards"][0]] == documented
    assert catalog["totals"] == {
        "shards": 2,
        "records": 4,
        "size": sum(shard["size"] for shard in catalog["shards"]),
    }
    data = (tmp_path / "c-000000.shardpack").read_bytes()
    assert catalog["shards"][0]["footer_crc32c"] == f"{struct.unpack('<I', data[-12:-8])[0]:08x}"


def test_the_members_of_meta_are_documented(tmp_path):
    with shardpack.Writer(
        tmp_path / "m-000000.shardpack", name="set", compression="zstd", level=3, shard_records=2
    ) as writer:
        writer.write("a", {"x.txt": "text"})
    own = shardpack.open(tmp_path / "m-000000.shardpack").shards[0]["metadata"]["shardpack"]
    assert list(own) == members("META")


def test_a_manifest_with_every_documented_member(tmp_path):
    documented = members("Manifest")
    (tmp_path / "numbers").write_bytes(struct.pack("<6f", *range(6)))
    file = {
        "path": "numbers",
        "name": "x",
        "content_type": "application/octet-stream",
        "compression": "gzip",
        "metadata": {"of": "file"},
        "modified": 5,
        "mode": 0o600,
        "array": {"dtype": "<f4", "shape": [2, 3]},
    }
    line = {"key": "k", "metadata": [1], "files": [file]}
    (tmp_path / "m.jsonl").write_text(json.dumps(line))
    run("create", "-i", tmp_path / "m.jsonl", "-o", tmp_path / "m.shardpack")
    record = shardpack.open(tmp_path / "m.shardpack")["k"]
    entry = record["x"]
    assert record.metadata == [1] and entry.metadata == {"of": "file"}
    assert (entry.mtime, entry.mode, entry.numpy().shape) == (5, 0o600, (2, 3))
    others = {"metadata_base64", "metadata_format"}
    assert set(documented) == {*line, *file, *others}


def test_the_cases_of_a_stream(tmp_path):
    with shardpack.Writer(tmp_path / "s.shardpack") as writer:
        for number in range(3):
            writer.write(f"{number}", {"x": b"1"})
    data = (tmp_path / "s.shardpack").read_bytes()
    _, offsets = index_of(data)
    index = footer_of(data)["index_offset"]

    def kind(stream):
        path = tmp_path / "cut"
        path.write_bytes(stream)
        try:
            return len(list(shardpack.stream(path)))
        except shardpack.CorruptError as error:
            reference = shardpack_reference.Stream(io.BytesIO(stream))
            list(reference)
            assert reference.verdict.kind in type(error).__name__
            return type(error).__name__

    assert kind(data) == 3
    assert kind(data[: offsets[1] + 7]) == "IncompleteError"  # 1
    assert kind(data[:7]) == "IncompleteError" and kind(b"no record") == "NotShardPackError"
    small = data[: offsets[1]] + struct.pack("<Q", 32) + data[offsets[1] + 8 :]
    assert kind(small) == "RecordCorruptError"  # 2
    assert kind(struct.pack("<Q", 32) + data[8:]) == "RecordCorruptError"
    assert kind(data[: offsets[1] + 40]) == "IncompleteError"
    wrong = data[: index + 8] + struct.pack("<Q", 8) + data[index + 16 :]
    assert kind(wrong) == "IndexCorruptError"  # 3
    assert kind(data + b"more") == "TrailingDataError"
    assert kind(data[: index + 40]) == "IncompleteError"
    assert kind(data[:index] + struct.pack("<Q", 2) + data[index + 8 :]) == "RecordCorruptError"  # 4
    assert kind(bytes(range(64))) == "NotShardPackError"
