"""ShardPack by the module and by the second implementation in support/: what one writes, the other
reads. Random samples with fixed seeds, all options, and the files of testdata."""

import collections
import hashlib
import io
import itertools
import json
import pathlib
import random

import pytest

import shardpack

import shardpack_reference_bytes as codes
from shardpack_reference import Shard, Stream
from shardpack_reference_bytes import Limits
from shardpack_reference_encode import EntrySpec, RecordSpec, encode_record
from shardpack_reference_verify import verify
from shardpack_reference_writer import SectionSpec, Writer

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "src/dolium/formats/shardpack/testdata"
GOOD = json.loads((TESTDATA / "good/expected.json").read_text())
BAD = json.loads((TESTDATA / "bad/expected.json").read_text())

Sample = collections.namedtuple("Sample", "key files metadata")

USER = {"creator": "MyName", "größe": "1", "empty": ""}


def random_content(source):
    size = source.choice((0, 1, 7, 8, 63, 500, 4096, 30_000))
    kind = source.randrange(3)
    if kind == 0:
        return source.randbytes(size)
    if kind == 1:
        return bytes(source.choices(b"shard pack \n", k=size))
    return bytes(size)


def random_samples(seed, count):
    """Keys are unique and in no order."""
    source = random.Random(seed)
    names = ["left.jpg", "right.png", "meta.json", "x.npy", "übersicht.txt", "a/b/c.bin", "noext"]
    keys = [f"images{source.randrange(100)}/{number:05}" for number in range(count - 4)]
    keys += ["é", "e\u0301", "🦉 with space", "k" * 3000]
    source.shuffle(keys)
    samples = []
    for key in keys:
        chosen = source.sample(names, source.randrange(1, len(names)))
        files = {name: random_content(source) for name in chosen}
        metadata = {"n": source.randrange(100), "text": "ä"} if source.random() < 0.4 else None
        samples.append(Sample(key, files, metadata))
    return samples


def write_by_module(path, samples, **options):
    with shardpack.Writer(str(path), **options) as writer:
        for sample in samples:
            if sample.metadata is None:
                writer.write(sample.key, sample.files)
            else:
                writer.write(sample.key, sample.files, metadata=sample.metadata)
    return pathlib.Path(path).read_bytes()


def samples_of_reference(records, limits=Limits()):
    return [
        Sample(
            record.key,
            {entry.name: entry.read(limits) for entry in record.file_entries()},
            json.loads(record.metadata) if record.meta_format == codes.META_JSON else None,
        )
        for record in records
    ]


def contents(record):
    """Of a record of the module."""
    return {entry.name: entry.data for entry in record.file_entries()}


# --- the module writes ----------------------------------------------------------------------

OPTIONS = list(itertools.product(["none", "gzip", "lz4", "zstd"], [8, 64, 4096], [1, 2]))


@pytest.mark.parametrize(("compression", "align", "threads"), OPTIONS)
def test_the_reference_reads_what_the_module_writes(tmp_path, compression, align, threads):
    samples = random_samples(f"{compression} {align} {threads}", 40)
    path = tmp_path / "a-000000.shardpack"
    data = write_by_module(
        path, samples, compression=compression, align=align, threads=threads, metadata=USER
    )
    assert verify(data) == []
    shard = Shard(data)
    stream = Stream(io.BytesIO(data))
    assert samples_of_reference(shard) == samples
    assert samples_of_reference(stream) == samples
    assert stream.verdict.kind == "Complete"
    assert 1 << shard.align_log2 == align
    assert shard.meta["user"] == USER
    assert {"META", "STAT", "KEYX"} <= shard.sections.keys()
    assert all(shard.find(sample.key).key == sample.key for sample in samples)
    allowed = {codes.NONE, codes.CODECS[compression]}
    for record in shard:
        for entry in record.file_entries():
            assert entry.codec in allowed
            assert entry.codec == codes.NONE or entry.stored_size < entry.raw_size


@pytest.mark.parametrize("align", [8, 16, 512])
def test_records_of_both_are_the_same_bytes(tmp_path, align):
    """Without compression a block is a function of what is in it."""
    samples = random_samples(align, 30)
    data = write_by_module(tmp_path / "a.shardpack", samples, compression="none", align=align)
    shard = Shard(data)
    for sample, record in zip(samples, shard, strict=True):
        entries = [EntrySpec(e.name, e.read(), e.stored_type) for e in record.file_entries()]
        assert [entry.name for entry in entries] == list(sample.files)
        spec = RecordSpec(record.key, entries, record.meta_format, record.metadata)
        assert bytes(record.block) == encode_record(spec, shard.align_log2)[0]


@pytest.mark.parametrize("compression", ["none", "gzip", "lz4", "zstd"])
def test_a_large_entry_comes_through(tmp_path, compression):
    """Of 9 MB: what is above a threshold is written in chunks."""
    source = random.Random(9)
    words = [source.randbytes(source.randrange(3, 12)) for _ in range(500)]
    large = b"".join(source.choices(words, k=1_300_000))[:9_000_000]
    samples = [Sample("large", {"before.txt": b"1", "large.bin": large, "after.txt": b"2"}, None)]
    data = write_by_module(tmp_path / "a.shardpack", samples, compression=compression)
    assert verify(data) == []
    assert samples_of_reference(Shard(data)) == samples


def test_zeros_pass_the_limits_of_a_reader(tmp_path):
    """They shrink to less than a 4096th, which readers refuse by default."""
    samples = [Sample("zeros", {"zeros.bin": bytes(20_000_000)}, None)]
    data = write_by_module(tmp_path / "a.shardpack", samples, compression="zstd")
    assert verify(data) == []
    assert samples_of_reference(Shard(data)) == samples


def test_every_option_of_the_writer_gives_a_good_shard(tmp_path):
    samples = random_samples("options", 60)
    for number in range(300):
        note = json.dumps({"image_id": number, "category": "person", "bbox": [number, 1, 2, 3]})
        samples.append(Sample(f"note/{number:04}", {"note.json": note.encode()}, None))
    path = tmp_path / "a.shardpack"
    data = write_by_module(
        path,
        samples,
        compression="zstd",
        compress_all=True,
        dictionary=4096,
        keys=True,
        entry_index=True,
        chunk_size=1 << 16,
        chunk_threshold=1 << 14,
        metadata=USER,
    )
    assert verify(data) == []
    shard = Shard(data)
    assert samples_of_reference(shard) == samples
    assert {"ENTX", "KEYS", "KEYX", "ZDIC", "STAT", "META"} <= shard.sections.keys()
    assert shard.footer.features_optional & codes.FEATURE_DICTIONARIES
    assert any(entry.is_chunked for record in shard for entry in record.entries)


def test_tombstones_and_parts_are_written_as_the_document_says(tmp_path):
    path = tmp_path / "a.shardpack"
    files = {f"{number}.bin": bytes([number]) * 600 for number in range(5)}
    with shardpack.Writer(str(path), record_size_limit=1500, oversize="split") as writer:
        writer.delete("gone")
        writer.write("large", files, metadata={"a": 1})
    data = path.read_bytes()
    assert verify(data) == []
    tombstone, *parts = Shard(data)
    assert (tombstone.key, tombstone.is_tombstone, tombstone.entries) == ("gone", True, [])
    assert [part.part for part in parts] == [(n, len(parts)) for n in range(len(parts))]
    assert len(parts) > 1
    assert {part.key for part in parts} == {"large"}
    joined = [(entry.name, entry.read()) for part in parts for entry in part.file_entries()]
    assert joined == list(files.items())


def test_a_file_in_segments_is_written_as_the_document_says(tmp_path):
    path = tmp_path / "a.shardpack"
    giant = bytes(range(256)) * 40
    with shardpack.Writer(str(path), record_size_limit=1500, oversize="split") as writer:
        writer.write("large", {"a.txt": b"small", "giant.bin": giant, "z.txt": b"last"})
    data = path.read_bytes()
    assert verify(data) == []
    parts = list(Shard(data))
    assert [part.part for part in parts] == [(n, len(parts)) for n in range(len(parts))]
    joined = b""
    for number, part in enumerate(parts):
        for place, entry in enumerate(part.file_entries()):
            if entry.name != "giant.bin":
                assert entry.segment is None
                continue
            assert entry.segment == (len(joined), len(giant))
            joined += entry.read()
            # Not the first: the first of its record. Not the last: the last of its record.
            assert number == 0 or place == 0
            assert len(joined) == len(giant) or place == len(part.entries) - 1
    assert joined == giant


def test_a_reproducible_shard_is_the_same_bytes_each_time(tmp_path):
    samples = random_samples("reproducible", 40)
    options = {"compression": "zstd", "metadata": USER, "reproducible": True}
    first = write_by_module(tmp_path / "a.shardpack", samples, threads=1, **options)
    again = write_by_module(tmp_path / "b.shardpack", samples, threads=2, **options)
    assert first == again
    assert "created" not in Shard(first).meta["shardpack"]
    assert sorted(samples_of_reference(Shard(first))) == sorted(samples)


def test_an_empty_shard_is_written_and_read(tmp_path):
    data = write_by_module(tmp_path / "a.shardpack", [])
    assert verify(data) == []
    assert len(Shard(data)) == 0
    assert list(shardpack.open(str(tmp_path / "a.shardpack")).records()) == []


def test_what_is_there_is_only_replaced_by_force(tmp_path):
    path = tmp_path / "a.shardpack"
    write_by_module(path, random_samples("first", 5))
    before = path.read_bytes()
    with pytest.raises(OSError):
        write_by_module(path, random_samples("second", 5))
    assert path.read_bytes() == before
    samples = random_samples("second", 5)
    assert samples_of_reference(Shard(write_by_module(path, samples, force=True))) == samples


# --- the reference writes -------------------------------------------------------------------


def random_specs(seed, count, chunk_sizes):
    source = random.Random(seed)
    specs = []
    for sample in random_samples(seed, count):
        entries = []
        for name, data in sample.files.items():
            tlvs = []
            if source.random() < 0.3:
                tlvs.append(codes.metadata_tlv(codes.META_JSON, b'{"a":1}'))
            if source.random() < 0.2:
                tlvs.append(codes.mtime_tlv(source.randrange(1 << 62)))
            if source.random() < 0.2:
                tlvs.append((0x7000, b"not known"))
            entries.append(
                EntrySpec(
                    name,
                    data,
                    source.choice(("", "image/jpeg", "application/json")),
                    codec=source.randrange(4),
                    chunk_raw_size=source.choice(chunk_sizes),
                    tlvs=tuple(tlvs),
                    only_if_smaller=source.random() < 0.7,
                )
            )
        form = codes.META_NONE if sample.metadata is None else codes.META_JSON
        metadata = b"" if sample.metadata is None else json.dumps(sample.metadata).encode()
        specs.append(RecordSpec(sample.key, entries, form, metadata))
    return specs


SECTIONS = {
    "none": (),
    "usual": ("KEYX", "STAT", "META"),
    "all": ("ENTX", "KEYS", "KEYX", "STAT", "META"),
    "compressed": (
        SectionSpec("ENTX", codes.ZSTD),
        SectionSpec("KEYS", codes.ZSTD),
        SectionSpec("KEYX", codes.LZ4),
        SectionSpec("META", codes.GZIP, required=True),
    ),
}


@pytest.mark.parametrize("align_log2", [3, 6, 12])
@pytest.mark.parametrize("sections", SECTIONS)
def test_the_module_reads_what_the_reference_writes(tmp_path, align_log2, sections):
    specs = random_specs(f"{align_log2} {sections}", 40, (None, None, 1 << 16))
    writer = Writer(align_log2, sections=SECTIONS[sections])
    for spec in specs:
        writer.add(spec)
    path = tmp_path / "a.shardpack"
    path.write_bytes(writer.finish())
    dataset = shardpack.open(str(path))
    index = dataset.get_index()
    assert [int(offset) for offset in index] == writer.offsets
    for number, (spec, record) in enumerate(zip(specs, dataset.records(), strict=True)):
        for read in (record, dataset.read_record_at_offset(index[number])):
            assert read.key == spec.key
            assert contents(read) == {entry.name: entry.data for entry in spec.entries}
            for entry, wanted in zip(read.file_entries(), spec.entries, strict=True):
                assert entry.content_type == (wanted.content_type or "application/octet-stream")
            assert (read.metadata or None) == (json.loads(spec.metadata) if spec.metadata else None)


@pytest.mark.parametrize("name", GOOD)
def test_the_module_reads_a_good_file(name):
    dataset = shardpack.open(str(TESTDATA / "good" / name))
    expected = GOOD[name]["records"]
    index = dataset.get_index()
    assert [int(offset) for offset in index] == [record["offset"] for record in expected]
    for number, wanted in enumerate(expected):
        record = dataset.read_record_at_offset(index[number])
        assert record.key == wanted["key"]
        entries = [entry for entry in wanted["entries"] if not entry["aux"]]
        for entry, about in zip(record.file_entries(), entries, strict=True):
            assert (entry.name, len(entry.data)) == (about["name"], about["size"])
            assert hashlib.sha256(entry.data).hexdigest() == about["sha256"]


def error_of(kind):
    return getattr(shardpack, f"{kind}Error")


SHARDPACK_ERRORS = tuple(
    error_of(kind) for kind in sorted({bad["kind"] for bad in BAD.values()} - {"Padding"})
)


# Verify names these. A reader need not look at other names, nor at extensions it was not asked for.
ONLY_FOR_VERIFY = {
    f"{name}.shardpack"
    for name in (
        "record_name_twice",
        "entry_mtime_short",
        "entry_array_short",
        "entry_metadata_empty",
    )
}


@pytest.mark.parametrize("name", sorted(BAD.keys() - ONLY_FOR_VERIFY))
def test_the_module_reads_of_a_bad_file_what_is_good(name):
    path, expected = str(TESTDATA / "bad" / name), BAD[name]
    if expected["open"] != "ok":
        with pytest.raises(error_of(expected["open"])):
            shardpack.open(path).get_index()
        return
    dataset = shardpack.open(path)
    shard = Shard(pathlib.Path(path).read_bytes())
    for number, offset in enumerate(dataset.get_index()):
        if number in expected["readable_records"]:
            files = {entry.name: entry.read() for entry in shard[number].file_entries()}
            assert contents(dataset.read_record_at_offset(offset)) == files
        else:
            kind = SHARDPACK_ERRORS
            if number == expected["record"]:
                kind = error_of(expected["kind"])
            with pytest.raises(kind):
                contents(dataset.read_record_at_offset(offset))


@pytest.mark.parametrize("name", GOOD)
def test_verify_of_the_module_finds_nothing_in_a_good_file(name):
    assert shardpack.verify(TESTDATA / "good" / name).findings == []


@pytest.mark.parametrize("name", BAD)
def test_verify_of_the_module_finds_what_is_bad(name):
    """Errors as errors; what the reference only warns of, the module may find worse."""
    report = shardpack.verify(TESTDATA / "bad" / name)
    assert report.findings
    if "error" in {severity for severity, _ in BAD[name]["findings"]}:
        assert not report


# --- front to back --------------------------------------------------------------------------


def samples_of(records):
    """Key and entries of each sample: the parts of one are joined."""
    samples = []
    for record in records:
        entries = [entry for entry in record["entries"] if not entry["aux"]]
        if record["part"] and record["part"][0] > 0:
            samples[-1][1].extend(entries)
        else:
            samples.append((record["key"], entries))
    return samples


@pytest.mark.parametrize("name", GOOD)
def test_the_module_streams_a_good_file(name):
    streamed = list(shardpack.stream(TESTDATA / "good" / name))
    for record, (key, entries) in zip(streamed, samples_of(GOOD[name]["records"]), strict=True):
        assert record.key == key
        for entry, about in zip(record.file_entries(), entries, strict=True):
            assert (entry.name, hashlib.sha256(entry.data).hexdigest()) == (
                about["name"],
                about["sha256"],
            )


def test_a_stream_that_was_cut_gives_what_is_whole_and_says_so(tmp_path):
    data = (TESTDATA / "good/example.shardpack").read_bytes()
    for size in range(16, len(data), 8):
        path = tmp_path / f"{size}.shardpack"
        path.write_bytes(data[:size])
        keys = []
        with pytest.raises(shardpack.IncompleteError):
            for record in shardpack.stream(path):
                keys.append(record.key)
        assert len(keys) == (size >= 0x110) + (size >= 0x1A0)
