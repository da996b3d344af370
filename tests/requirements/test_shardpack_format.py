"""What the document of ShardPack demands, point by point: requirements 1 to 29, the file.

Bytes are looked at here as the document describes them, with struct and nothing of ours; the
second implementation (tests/support/shardpack_reference*.py) stands for other languages.
"""

import os
import struct
import uuid

import pytest

import shardpack
import shardpack_reference
import shardpack_reference_writer
from shardpack_reference_encode import EntrySpec, RecordSpec
from shardpack_walkthrough import (
    ANNOTATION,
    LEFT,
    RECORD_MAGIC,
    first_entry,
    footer_of,
    index_of,
    run,
    write_one,
)


# --- dataset and shards


def test_01_a_dataset_is_one_or_more_files(many):
    """1. A dataset is one or more ShardPack files, normally named *.shardpack."""
    assert len(shardpack.open(many / "dataset-train-000000.shardpack")) == 30
    assert len(shardpack.open(many)) == 100
    assert {path.suffix for path in many.iterdir()} == {".shardpack"}


def test_02_shards_are_numbered(many, folder, tmp_path):
    """2. Shards are numbered sequentially, six digits zero-padded in the example."""
    names = [f"dataset-train-00000{number}.shardpack" for number in range(4)]
    assert sorted(path.name for path in many.iterdir()) == names
    output = tmp_path / "dataset-train-000000.shardpack"
    run("create", "--input", folder, "--output", output, "--shard-records", "50")
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_03_braces_name_a_set(many):
    """3. A set of shards can be named with brace notation or an equivalent range expansion."""
    reference = many / "dataset-train-{000000..000003}.shardpack"
    assert len(shardpack.open(reference)) == 100
    assert len(run("ls", "--keys-only", reference).split()) == 100


def test_04_shards_are_independent(many):
    """4. Shards are independent of each other: each carries its own index."""
    data = (many / "dataset-train-000002.shardpack").read_bytes()
    count, offsets = index_of(data)
    assert count == 30 and offsets[0] == 0
    alone = shardpack.open(many / "dataset-train-000002.shardpack")
    assert [record.key for record in alone] == [f"sample{n:03}" for n in range(60, 90)]


def test_05_no_external_index_is_needed_and_a_catalogue_may_be(many, tmp_path):
    """5. No external index file is ever required; an external catalogue of shards is permitted."""
    for path in many.iterdir():
        os.link(path, tmp_path / path.name)
    assert len(shardpack.open(tmp_path)) == 100
    run("catalog", tmp_path, "--output", tmp_path / "catalog.json")
    assert len(shardpack.open(tmp_path / "catalog.json")) == 100


def test_06_other_implementations_read_it(shard):
    """6. Portability: a simple binary record format with few dependencies, readable from several
    languages."""
    other = shardpack_reference.Shard(shard.read_bytes())
    ours = shardpack.open(shard)
    assert len(other) == 200
    for record, mine in zip(other, ours):
        assert record.key == mine.key
        assert {entry.name: entry.read() for entry in record.entries} == mine.as_dict()


# --- file layout


def test_07_records_then_index_and_metadata(shard):
    """7. A file is: record blocks 1..N, then index plus shard metadata at end of file."""
    data = shard.read_bytes()
    assert data[8:12] == RECORD_MAGIC
    footer = footer_of(data)
    count, offsets = index_of(data)
    assert count == footer["records"] == 200
    assert offsets[-1] < footer["index_offset"] < len(data)
    assert data.index(b'"creator"') > footer["index_offset"] + 8 * (count + 1)


def test_08_a_block_is_a_sample_of_items(shard, tmp_path):
    """8. One block = one sample, or a micro-batch / combined sample, holding one or more data
    items."""
    assert shardpack.open(shard)[0].names() == ["left.jpg", "meta.json", "right.jpg"]
    batch = {f"{number}.bin": bytes([number]) for number in range(64)}
    write_one(tmp_path / "batch.shardpack", "batch 0", batch)
    assert shardpack.open(tmp_path / "batch.shardpack")[0].as_dict() == batch


def test_09_the_end_has_offsets_metadata_and_magic(shard):
    """9. The end structure holds a table of record offsets, shard-wide metadata, and a magic that
    identifies the file."""
    data = shard.read_bytes()
    assert index_of(data)[1] == list(shardpack.open(shard).get_index())
    assert shardpack.open(shard).metadata == {"creator": "MyName", "training": "true"}
    assert data.endswith(b"SHARDPK1")


def test_10_one_pass_writes_and_reads(shard, tmp_path):
    """10. The file can be produced in one forward pass and read from start to end without the
    index."""
    # No byte of a record depends on what follows it.
    blocks = []
    for count in (1, 2, 3):
        path = tmp_path / f"{count}.shardpack"
        with shardpack.Writer(path) as writer:
            for number in range(count):
                writer.write(f"{number}", {"x": bytes(number)})
        data = path.read_bytes()
        blocks.append(data[: footer_of(data)["index_offset"]])
    assert blocks[2].startswith(blocks[1]) and blocks[1].startswith(blocks[0])
    # And a pipe, in which nobody can seek, gives all of them.
    reader, end = os.pipe()
    with open(end, "wb") as pipe:
        pipe.write(data)
    found = [(record.key, record.as_dict()) for record in shardpack.stream(reader)]
    os.close(reader)
    assert found == [("0", {"x": b""}), ("1", {"x": b"\0"}), ("2", {"x": b"\0\0"})]
    assert len(list(shardpack.stream(shard))) == 200


def test_11_any_record_is_one_seek_away(shard):
    """11. Once the index is read, any record is reachable with one seek, in constant time."""
    dataset = shardpack.open(shard)
    offset = dataset.get_index()[150]
    with open(shard, "rb") as file:
        file.seek(offset)
        size, magic = struct.unpack("<Q4s", file.read(12))
    assert magic == RECORD_MAGIC and offset + size == dataset.get_index()[151]
    assert dataset.read_record_at_offset(offset).key == dataset[150].key


def test_12_written_once(tmp_path):
    """12. Written once, then immutable."""
    path = tmp_path / "a.shardpack"
    before = write_one(path)
    with pytest.raises(FileExistsError):
        write_one(path, "other")
    record = shardpack.open(path)[0]
    with pytest.raises(TypeError):
        record["left.jpg"].view()[0] = 0
    with pytest.raises(AttributeError):
        record.key = "other"
    assert path.read_bytes() == before


# --- record block


def test_13_a_fixed_header_first(shard):
    """13. Fixed-size record header first."""
    data = shard.read_bytes()
    for offset in index_of(data)[1]:
        size, magic, version, align, flags, meta_format = struct.unpack_from(
            "<Q4sBBBB", data, offset
        )
        assert (magic, version, align, flags, meta_format) == (RECORD_MAGIC, 1, 3, 0, 0)


def test_14_the_size_counts_every_byte(shard):
    """14. Record size, u64, counts every byte of the block: header, entries, inline metadata."""
    data = shard.read_bytes()
    ends = index_of(data)[1][1:] + [footer_of(data)["index_offset"]]
    for offset, end in zip(index_of(data)[1], ends):
        assert struct.unpack_from("<Q", data, offset) == (end - offset,)


def test_15_keys_are_strings_or_uuids(tmp_path):
    """15. Record key: variable-length string, or an auto-generated UUID."""
    path = tmp_path / "keys.shardpack"
    keys = ["images17/image194", "k", "ключ", "x" * 65535]
    with shardpack.Writer(path) as writer:
        for key in keys:
            writer.write(key, {"x": b""})
        writer.write(None, {"x": b""})
    found = [record.key for record in shardpack.open(path)]
    assert found[:-1] == keys
    assert uuid.UUID(found[-1]).version == 4


def test_16_records_have_metadata_of_any_format(tmp_path):
    """16. Optional record-level metadata of any length and format (JSON, MsgPack, ...)."""
    for number, value in enumerate([None, {"split": "train"}, b"\x00opaque", ["x" * 100_000]]):
        path = tmp_path / f"{number}.shardpack"
        write_one(path, metadata_of_record=value)
        assert shardpack.open(path)[0].metadata == value
    packed = b"\x81\xa1a\x01"  # MsgPack of {"a": 1}
    writer = shardpack_reference_writer.Writer()
    writer.add(RecordSpec("key", [EntrySpec("x", b"")], metadata=packed, meta_format=2))
    (tmp_path / "msgpack.shardpack").write_bytes(writer.finish())
    pytest.importorskip("msgpack")
    assert shardpack.open(tmp_path / "msgpack.shardpack")[0].metadata == {"a": 1}


def test_17_the_number_of_entries_follows_the_header(tmp_path):
    """17. Number of file entries, u32, placed after the fixed header and next to the record
    metadata."""
    data = write_one(tmp_path / "a.shardpack", "k", metadata_of_record={"m": 1})
    assert struct.unpack_from("<I", data, 28) == (2,)
    assert data[32:33] == b"k" and data[33:40] == b'{"m":1}'


def test_18_entries_are_headers_followed_by_data(tmp_path):
    """18. Then M file entries, each header followed by its data."""
    data = write_one(tmp_path / "a.shardpack")
    at, entry = first_entry(data)
    head = at + 32 + entry["name"] + entry["type"]
    begin = -(-head // 8) * 8
    assert data[at + 32 : head] == b"left.jpgimage/jpeg"
    assert data[begin : begin + entry["stored"]] == LEFT
    following = -(-(begin + entry["stored"]) // 8) * 8
    assert struct.unpack_from("<Q", data, following) == (len(ANNOTATION),)


# --- file entry


def test_19_file_names(shard):
    """19. File name, string (left.jpg)."""
    assert shardpack.open(shard)[0].names() == ["left.jpg", "meta.json", "right.jpg"]


def test_20_content_types(shard):
    """20. Content type, string (image/jpeg)."""
    types = [entry.content_type for entry in shardpack.open(shard)[0].file_entries()]
    assert types == ["image/jpeg", "application/json", "image/jpeg"]


def test_21_file_sizes(tmp_path):
    """21. File size, u64."""
    data = write_one(tmp_path / "a.shardpack", files={"x": bytes(70_000)})
    assert first_entry(data)[1]["raw"] == 70_000
    assert shardpack.open(tmp_path / "a.shardpack")[0]["x"].size == 70_000


def test_22_compression_is_told(tmp_path):
    """22. Optional compression/encoding information (gzip, lz4, none)."""
    for number, codec in enumerate(["none", "gzip", "lz4", "zstd"]):
        data = write_one(tmp_path / codec, files={"a.txt": b"text " * 1000}, compression=codec)
        assert first_entry(data)[1]["codec"] == number
        assert shardpack.open(tmp_path / codec)[0]["a.txt"].codec == codec


def test_23_content_is_raw_or_compressed(tmp_path):
    """23. Content bytes, raw or compressed."""
    text = b"text " * 1000
    for codec in ("none", "gzip", "lz4", "zstd"):
        data = write_one(tmp_path / codec, files={"a.txt": text}, compression=codec)
        assert (text in data) == (codec == "none")
        assert shardpack.open(tmp_path / codec)[0]["a.txt"].data == text


def test_24_the_header_alone_says_how_to_decode(tmp_path):
    """24. A reader can decode an entry from its own header, without trusting the file extension."""
    path = tmp_path / "a.shardpack"
    write_one(
        path, files={"wrong.jpg": b'{"a": 1}'}, content_types={"wrong.jpg": "application/json"}
    )
    assert shardpack.open(path)[0]["wrong.jpg"].decode() == {"a": 1}


def test_25_files_have_metadata(tmp_path):
    """25. Per-file metadata has a dedicated place."""
    path = tmp_path / "a.shardpack"
    write_one(path, file_metadata={"left.jpg": {"width": 640}})
    record = shardpack.open(path)[0]
    assert record["left.jpg"].metadata == {"width": 640}
    assert record["meta.json"].metadata is None


# --- index


def test_26_the_index_begins_with_the_count(shard):
    """26. Number of records, u64."""
    data = shard.read_bytes()
    assert struct.unpack_from("<Q", data, footer_of(data)["index_offset"]) == (200,)


def test_27_offsets_follow_one_another(shard):
    """27. N record offsets, u64 each, absolute file positions of block starts; a block starts
    exactly where the previous one ended."""
    data = shard.read_bytes()
    at = 0
    for offset in index_of(data)[1]:
        assert offset == at
        at += struct.unpack_from("<Q", data, offset)[0]
    assert at == footer_of(data)["index_offset"]


def test_28_shards_have_metadata(shard):
    """28. Shard-level metadata, variable length: user fields as JSON or key/value, timestamps,
    shard version."""
    metadata = shardpack.open(shard).shards[0]["metadata"]
    assert metadata["user"] == {"creator": "MyName", "training": "true"}
    assert metadata["shardpack"]["version"] == "1.0"
    assert metadata["shardpack"]["created"].endswith("Z")


def test_29_the_footer_identifies_and_validates(shard, tmp_path):
    """29. Fixed-size footer with the magic, used to identify and validate the file."""
    data = shard.read_bytes()
    assert footer_of(data)["file_size"] == len(data)
    for change in (data[:-1], data + b"x", data[:-64] + bytes(64), data[:-30] + b"\1" + data[-29:]):
        (tmp_path / "bad.shardpack").write_bytes(change)
        with pytest.raises(shardpack.CorruptError):
            shardpack.open(tmp_path / "bad.shardpack")
