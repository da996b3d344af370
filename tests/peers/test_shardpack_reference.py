"""The second implementation of ShardPack by itself: against the document's example, against the
files in testdata, and round and round. Nothing here needs the C++ code."""

import hashlib
import io
import json
import pathlib
import random
import struct
import sys

import pytest

import shardpack_reference_bytes as codes
from shardpack_reference import Shard, ShardPackError, Stream
from shardpack_reference_bytes import Limits
from shardpack_reference_encode import EntrySpec, RecordSpec
from shardpack_reference_verify import verify
from shardpack_reference_writer import SectionSpec, Writer

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "src/dolium/formats/shardpack/testdata"
GOOD = json.loads((TESTDATA / "good/expected.json").read_text())
BAD = json.loads((TESTDATA / "bad/expected.json").read_text())

# The worked example of the format's document.
EXAMPLE = bytes.fromhex(
    """
    10 01 00 00 00 00 00 00 53 50 4b 52 01 03 00 00 00 00 00 00 11 00 00 00 b0 cd df b0 03 00 00 00
    69 6d 61 67 65 73 31 37 2f 69 6d 61 67 65 31 39 34 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00
    08 00 00 00 00 00 00 00 5d 49 18 b3 08 00 0a 00 00 00 00 00 18 b2 91 6b 6c 65 66 74 2e 6a 70 67
    69 6d 61 67 65 2f 6a 70 65 67 00 00 00 00 00 00 ff d8 4c 45 46 54 ff d9 09 00 00 00 00 00 00 00
    09 00 00 00 00 00 00 00 f6 1f 8a 90 09 00 0a 00 00 00 00 00 a2 39 cd 4b 72 69 67 68 74 2e 6a 70
    67 69 6d 61 67 65 2f 6a 70 65 67 00 00 00 00 00 ff d8 52 49 47 48 54 ff d9 00 00 00 00 00 00 00
    0f 00 00 00 00 00 00 00 0f 00 00 00 00 00 00 00 bb b6 07 a3 09 00 10 00 00 00 00 00 e7 fa 69 94
    6d 65 74 61 2e 6a 73 6f 6e 61 70 70 6c 69 63 61 74 69 6f 6e 2f 6a 73 6f 6e 00 00 00 00 00 00 00
    7b 22 73 74 65 72 65 6f 22 3a 74 72 75 65 7d 00 90 00 00 00 00 00 00 00 53 50 4b 52 01 03 00 01
    11 00 00 00 11 00 00 00 41 84 84 7c 01 00 00 00 69 6d 61 67 65 73 31 37 2f 69 6d 61 67 65 31 39
    35 7b 22 73 70 6c 69 74 22 3a 22 74 72 61 69 6e 22 7d 00 00 00 00 00 00 02 00 00 00 00 00 00 00
    02 00 00 00 00 00 00 00 aa d0 7b 29 09 00 10 00 00 00 00 00 6d 07 d0 f0 6d 65 74 61 2e 6a 73 6f
    6e 61 70 70 6c 69 63 61 74 69 6f 6e 2f 6a 73 6f 6e 00 00 00 00 00 00 00 7b 7d 00 00 00 00 00 00
    02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 01 00 00 00 00 00 00 02 00 00 00 00 00 00 00
    01 00 00 00 00 00 00 00 5d 2c f9 b8 b3 04 ac 6d 12 be bf 34 f0 5b 44 85 01 00 00 00 00 00 00 00
    7b 22 73 68 61 72 64 70 61 63 6b 22 3a 7b 22 76 65 72 73 69 6f 6e 22 3a 22 31 2e 30 22 7d 2c 22
    75 73 65 72 22 3a 7b 22 63 72 65 61 74 6f 72 22 3a 22 4d 79 4e 61 6d 65 22 2c 22 74 72 61 69 6e
    69 6e 67 22 3a 22 74 72 75 65 22 7d 7d 00 00 00 4b 45 59 58 00 00 00 00 b8 01 00 00 00 00 00 00
    28 00 00 00 00 00 00 00 28 00 00 00 00 00 00 00 e5 a2 76 2f 00 00 00 00 4d 45 54 41 00 00 00 01
    e0 01 00 00 00 00 00 00 4d 00 00 00 00 00 00 00 4d 00 00 00 00 00 00 00 3a 8c 55 51 00 00 00 00
    a0 01 00 00 00 00 00 00 02 00 00 00 00 00 00 00 c0 02 00 00 00 00 00 00 50 00 00 00 7f 3a fd 19
    4c d6 fe 58 01 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 07 47 e9 0d 53 48 41 52 44 50 4b 31
    """
)


def stream_of(data, limits=Limits()):
    """The keys it yields, and its verdict."""
    stream = Stream(io.BytesIO(data), limits)
    keys = [record.key for record in stream]
    return keys, stream.verdict


def test_crc32c_has_its_check_value_in_both_ways():
    assert codes.crc32c_by_table(b"123456789") == 0xE3069283
    data = random.Random(1).randbytes(1000)
    assert codes.crc32c(data[:700], data[700:]) == codes.crc32c_by_table(data)


# --- the example ----------------------------------------------------------------------------


def test_the_writer_gives_the_example_byte_for_byte():
    assert (TESTDATA / "good/example.shardpack").read_bytes() == EXAMPLE
    meta = {"shardpack": {"version": "1.0"}, "user": {"creator": "MyName", "training": "true"}}
    writer = Writer(align_log2=3, sections=("KEYX", "META"), meta=meta)
    left = EntrySpec("left.jpg", b"\xff\xd8LEFT\xff\xd9", "image/jpeg")
    right = EntrySpec("right.jpg", b"\xff\xd8RIGHT\xff\xd9", "image/jpeg")
    note = EntrySpec("meta.json", b'{"stereo":true}', "application/json")
    writer.add(RecordSpec("images17/image194", [left, right, note]))
    note = EntrySpec("meta.json", b"{}", "application/json")
    writer.add(RecordSpec("images17/image195", [note], codes.META_JSON, b'{"split":"train"}'))
    assert writer.finish() == EXAMPLE


def test_the_example_is_read():
    shard = Shard(EXAMPLE)
    assert shard.offsets == [0, 0x110]
    assert shard.meta["user"] == {"creator": "MyName", "training": "true"}
    first, second = shard
    assert [(e.name, e.content_type, e.read()) for e in first.file_entries()] == [
        ("left.jpg", "image/jpeg", b"\xff\xd8LEFT\xff\xd9"),
        ("right.jpg", "image/jpeg", b"\xff\xd8RIGHT\xff\xd9"),
        ("meta.json", "application/json", b'{"stereo":true}'),
    ]
    assert (second.key, second.metadata) == ("images17/image195", b'{"split":"train"}')
    assert shard.find("images17/image194").number == 0
    assert shard.find("images17/image196") is None
    assert verify(EXAMPLE) == []


def test_every_alteration_of_every_byte_of_the_example_is_found():
    for at in range(len(EXAMPLE)):
        for pattern in (0x01, 0x80, 0x55, 0xFF):
            altered = bytearray(EXAMPLE)
            altered[at] ^= pattern
            assert verify(altered), f"byte {at:#x} xor {pattern:#x}"


def test_an_alteration_never_gives_other_content():
    """Reading, unlike verify, may pass over padding; what it hands out must be what was written."""

    def contents(data):
        try:
            shard = Shard(data)
        except ShardPackError:
            return {}
        found = {}
        for number in range(len(shard)):
            try:
                record = shard[number]
            except ShardPackError:
                continue
            for entry in record.entries:
                try:
                    found[record.key, entry.name] = entry.content_type, entry.read()
                except ShardPackError:
                    pass
        return found

    whole = contents(EXAMPLE)
    assert len(whole) == 4
    for at in range(len(EXAMPLE)):
        altered = bytearray(EXAMPLE)
        altered[at] ^= 0x01
        assert contents(altered).items() <= whole.items(), f"byte {at:#x}"


def test_every_truncation_of_the_example_is_classified():
    for size in range(len(EXAMPLE) + 1):
        keys, verdict = stream_of(EXAMPLE[:size])
        assert len(keys) == verdict.records == (size >= 0x110) + (size >= 0x1A0)
        assert verdict.kind == ("Complete" if size == len(EXAMPLE) else "Incomplete")
        if size < len(EXAMPLE):
            with pytest.raises(ShardPackError) as error:
                Shard(EXAMPLE[:size])
            # Without the record's magic and size there is nothing to know it by.
            assert error.value.kind == ("NotShardPack" if size < 16 else "Incomplete")
            assert verify(EXAMPLE[:size])


def test_a_stream_needs_neither_seek_nor_whole_reads():
    class Dripping:
        def __init__(self, data):
            self.data, self.at = data, 0

        def read(self, size):
            size = min(size, 7)
            self.at += size
            return self.data[self.at - size : self.at]

    stream = Stream(Dripping(EXAMPLE))
    assert [record.key for record in stream] == ["images17/image194", "images17/image195"]
    assert stream.verdict.kind == "Complete"


# --- testdata -------------------------------------------------------------------------------


def test_every_file_of_testdata_is_described():
    for folder, expected in (("good", GOOD), ("bad", BAD)):
        assert {path.name for path in (TESTDATA / folder).glob("*.shardpack")} == expected.keys()


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_holds_what_is_expected(name):
    data = (TESTDATA / "good" / name).read_bytes()
    expected = GOOD[name]
    assert verify(data) == []
    shard = Shard(data)
    keys, verdict = stream_of(data)
    assert (verdict.kind, verdict.records) == ("Complete", len(expected["records"]))
    assert keys == [record["key"] for record in expected["records"]]
    assert shard.offsets == [record["offset"] for record in expected["records"]]
    assert shard.meta == expected["meta"]
    for record, wanted in zip(shard, expected["records"], strict=True):
        for entry, about in zip(record.entries, wanted["entries"], strict=True):
            assert entry.name == about["name"]
            assert hashlib.sha256(entry.read()).hexdigest() == about["sha256"]
            assert codes.CODEC_NAMES[entry.codec] == about["codec"]
    if shard.entx is not None:
        for record, rows in zip(shard, shard.entx.rows, strict=True):
            read = [
                (shard.entx.columns[column][0], shard.entry_at(at).read()) for at, _, column in rows
            ]
            assert read == [(entry.name, entry.read()) for entry in record.file_entries()]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_called_what_it_is(name):
    data = (TESTDATA / "bad" / name).read_bytes()
    expected = BAD[name]
    findings = verify(data)
    assert [[finding.severity, finding.kind] for finding in findings] == expected["findings"]
    assert expected["findings"][0] == [expected["severity"], expected["kind"]]
    _, verdict = stream_of(data)
    assert {"verdict": verdict.kind, "records": verdict.records} == expected["stream"]


def test_testdata_covers_the_format():
    """So that nobody thins it out by accident."""
    records = [record for shard in GOOD.values() for record in shard["records"]]
    entries = [entry for record in records for entry in record["entries"]]
    assert {(e["codec"], e["chunked"]) for e in entries} == {
        (codec, chunked) for codec in codes.CODECS for chunked in (False, True)
    }
    assert {shard["align"] for shard in GOOD.values()} >= {8, 64, 4096}
    tags = {section["tag"] for shard in GOOD.values() for section in shard["sections"]}
    assert tags >= {"META", "STAT", "KEYX", "KEYS", "ENTX", "ZDIC"}
    for what in ("metadata", "mtime", "mode", "array", "aux"):
        assert any(entry[what] for entry in entries), what
    for what in ("tombstone", "part", "metadata"):
        assert any(record[what] for record in records), what
    kinds = {bad["kind"] for bad in BAD.values()}
    corrupt = {"IndexCorrupt", "SectionCorrupt", "RecordCorrupt", "EntryCorrupt", "Padding"}
    unsupported = {"UnsupportedCodec", "UnsupportedFeature", "UnsupportedVersion", "LimitExceeded"}
    assert kinds == corrupt | unsupported | {"Incomplete", "NotShardPack", "TrailingData"}


def test_the_files_of_testdata_are_made_again_the_same():
    """Those that no compressor has a hand in; others depend on its version."""
    sys.path.insert(0, str(ROOT / "tools"))
    import make_shardpack_testdata as maker

    for name, expected in GOOD.items():
        codecs = {entry["codec"] for record in expected["records"] for entry in record["entries"]}
        if codecs | {section["codec"] for section in expected["sections"]} <= {"none"}:
            made = maker.GOOD[name.removesuffix(".shardpack")]()
            assert made == (TESTDATA / "good" / name).read_bytes(), name


# --- round and round ------------------------------------------------------------------------


def random_entry(source, number):
    kind = source.randrange(3)
    size = source.choice((0, 1, 7, 8, 100, 5000, 70_000, 200_000))
    if kind == 0:
        data = source.randbytes(size)
    elif kind == 1:
        data = bytes(source.choices(b"abcd \n", k=size))
    else:
        data = (b"%d " % number) * (size // 2)
    tlvs = []
    if source.random() < 0.3:
        tlvs.append(codes.metadata_tlv(codes.META_JSON, b'{"n":%d}' % number))
    if source.random() < 0.2:
        tlvs.append(codes.mtime_tlv(source.randrange(-(1 << 63), 1 << 63)))
    if source.random() < 0.2:
        tlvs.append(codes.mode_tlv(source.randrange(1 << 32)))
    return EntrySpec(
        f"entry{number}.{source.choice(('jpg', 'json', 'ä'))}",
        data,
        source.choice(("", "image/jpeg", "application/json", "x/" + "y" * 300)),
        codec=source.randrange(4),
        chunk_raw_size=source.choice((None, None, 1 << 16, 1 << 17)),
        tlvs=tuple(tlvs),
        only_if_smaller=source.random() < 0.8,
    )


@pytest.mark.parametrize("align_log2", [3, 4, 6, 9, 12])
def test_random_shards_come_back(align_log2):
    source = random.Random(align_log2)
    sections = (
        "ENTX",
        SectionSpec("KEYS", codes.ZSTD),
        SectionSpec("KEYX", codes.LZ4),
        "STAT",
        "META",
    )
    writer = Writer(align_log2, sections=sections)
    specs = []
    for _ in range(60):
        entries = [random_entry(source, n) for n in range(source.randrange(1, 5))]
        metadata = source.randbytes(source.choice((0, 5, 300)))
        form = codes.META_OPAQUE if metadata else codes.META_NONE
        specs.append(RecordSpec(f"key {source.randrange(10**9)}", entries, form, metadata))
        assert writer.add(specs[-1]) % (1 << align_log2) == 0
    data = writer.finish()
    # Runs of one byte in zstd pass the default ratio.
    limits = Limits(ratio=1 << 30)
    assert verify(data, limits) == []
    shard = Shard(data, limits)
    stream = Stream(io.BytesIO(data), limits)
    for spec, record, streamed in zip(specs, shard, stream, strict=True):
        for read in (record, streamed, shard.find(spec.key)):
            assert (read.key, read.metadata) == (spec.key, spec.metadata)
            for wanted, entry in zip(spec.entries, read.file_entries(), strict=True):
                assert (entry.name, entry.stored_type) == (wanted.name, wanted.content_type)
                assert entry.tlvs == list(wanted.tlvs)
                assert entry.read(limits) == wanted.data
                assert (read.offset + entry.data_start) % (1 << align_log2) == 0
    assert stream.verdict.kind == "Complete"


def test_the_writer_refuses_what_the_document_forbids():
    for name in ("/etc/passwd", "../x", "a/../b", "a\0b", "", "n" * 65536):
        with pytest.raises(ValueError):
            Writer().add(RecordSpec("k", [EntrySpec(name, b"")]))
    for key in ("", "a\0b", "k" * 65536):
        with pytest.raises(ValueError):
            Writer().add(RecordSpec(key, [EntrySpec("x", b"")]))
    with pytest.raises(ValueError):
        Writer().add(RecordSpec("k", [EntrySpec("x", b""), EntrySpec("x", b"")]))
    with pytest.raises(ValueError):
        Writer().add(RecordSpec("k", []))


def test_a_shard_in_a_shard_is_not_taken_for_records():
    writer = Writer()
    writer.add(RecordSpec("inner", [EntrySpec("example.shardpack", EXAMPLE)]))
    data = writer.finish()
    assert stream_of(data)[0] == ["inner"]
    assert verify(data) == []
    assert Shard(Shard(data)[0]["example.shardpack"].read()).offsets == [0, 0x110]


def test_a_count_that_looks_like_a_size_is_still_the_index():
    """40 records: the index starts with 40, which is a size that a record can have."""
    writer = Writer(sections=())
    for number in range(40):
        writer.add(RecordSpec(f"{number}", [EntrySpec("x", b"")]))
    data = writer.finish()
    assert struct.unpack_from("<QQ", data, Shard(data).footer.index_offset) == (40, 0)
    assert stream_of(data)[1].kind == "Complete"
