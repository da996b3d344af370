#!/usr/bin/env python3
"""Makes src/dolium/formats/shardpack/testdata/{good,bad} with the reference in tests/support.

    ./dev python tools/make_shardpack_testdata.py [--check]

Needs python/requirements-peers.txt. The same bytes come out each time; --check only compares.
Other versions of zlib, lz4 or zstd may compress to other bytes that mean the same.
"""

import argparse
import hashlib
import io
import json
import pathlib
import random
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "tools"))

import zstandard  # noqa: E402

from shardpack_bad_files import make_bad  # noqa: E402
from shardpack_reference import Shard, ShardPackError, Stream  # noqa: E402
from shardpack_reference_bytes import (  # noqa: E402
    AUX,
    CODEC_NAMES,
    CHUNKED,
    GZIP,
    LZ4,
    META_CBOR,
    META_JSON,
    META_MSGPACK,
    META_NAMES,
    META_OPAQUE,
    NONE,
    PART,
    TOMBSTONE,
    ZSTD,
    array_tlv,
    metadata_tlv,
    mode_tlv,
    mtime_tlv,
)
from shardpack_reference_encode import EntrySpec, RecordSpec  # noqa: E402
from shardpack_reference_verify import verify  # noqa: E402
from shardpack_reference_writer import (  # noqa: E402
    SectionSpec,
    Writer,
    dictionary_entry,
)

FOLDER = ROOT / "src/dolium/formats/shardpack/testdata"
TEXT, JSON = "text/plain", "application/json"
MSGPACK_VALUE = b"\x81\xa5split\xa5train"  # {"split": "train"}
CBOR_VALUE = b"\xa1\x65split\x65train"  # {"split": "train"}


def words(seed, size):
    """Text that compresses about as text does."""
    source = random.Random(seed)
    text = " ".join(
        source.choice("shard pack record entry index key name tail".split()) for _ in range(size)
    )
    return text[:size].encode()


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def meta(**user):
    return {"shardpack": {"version": "1.0", "writer": "reference"}, "user": user}


# --- good files -----------------------------------------------------------------------------


def example():
    """The worked example of the document."""
    writer = Writer(
        sections=("KEYX", "META"),
        meta={"shardpack": {"version": "1.0"}, "user": {"creator": "MyName", "training": "true"}},
    )
    writer.add(
        RecordSpec(
            "images17/image194",
            [
                EntrySpec("left.jpg", b"\xff\xd8LEFT\xff\xd9", "image/jpeg"),
                EntrySpec("right.jpg", b"\xff\xd8RIGHT\xff\xd9", "image/jpeg"),
                EntrySpec("meta.json", b'{"stereo":true}', JSON),
            ],
        )
    )
    entries = [EntrySpec("meta.json", b"{}", JSON)]
    writer.add(RecordSpec("images17/image195", entries, META_JSON, b'{"split":"train"}'))
    return writer.finish()


def empty():
    return Writer(sections=("ENTX", "KEYS", "KEYX", "STAT", "META"), meta=meta()).finish()


def empty_bare():
    """The smallest shard there is: a count and a footer."""
    return Writer(sections=()).finish()


def no_sections():
    writer = Writer(sections=())
    writer.add(RecordSpec("a", [EntrySpec("x", b"1")]))
    return writer.finish()


def codecs():
    """Every codec; no content, no type, and data that does not compress."""
    writer = Writer(meta=meta(), sections=("KEYS", "KEYX", "STAT", "META"))
    for codec, name in CODEC_NAMES.items():
        entries = [
            EntrySpec("text.txt", words(codec, 700), TEXT, codec=codec),
            EntrySpec("noise.bin", noise(codec, 90), "application/octet-stream", codec=codec),
            EntrySpec("nothing", b"", "", codec=codec),
        ]
        writer.add(RecordSpec(f"codec/{name}", entries))
    return writer.finish()


def chunked():
    """Entries in chunks: each codec, a last chunk stored as it is, one chunk, none at all."""
    size = 1 << 16
    content = words(1, 61) * 2200
    writer = Writer(meta=meta())
    for codec, name in CODEC_NAMES.items():
        data = words(3, 300) if codec == NONE else content[: 2 * size] + noise(codec, 40)
        entries = [
            EntrySpec("a.bin", data, codec=codec, chunk_raw_size=size),
            EntrySpec("empty.bin", b"", codec=codec, chunk_raw_size=size),
            EntrySpec("after.txt", b"after", TEXT),
        ]
        writer.add(RecordSpec(f"chunked/{name}", entries))
    return writer.finish()


def extensions():
    """Every extension, on entries alone and together."""
    array = struct.pack("<6f", *range(6))
    tlvs = [
        metadata_tlv(META_JSON, b'{"camera":3}'),
        mtime_tlv(1_700_000_000_123_456_789),
        mode_tlv(0o100644),
        array_tlv("<f4", (2, 3)),
    ]
    writer = Writer(meta=meta())
    entries = [EntrySpec(f"{kind}.bin", array, tlvs=(tlv,)) for kind, tlv in zip("abcd", tlvs)]
    writer.add(RecordSpec("one by one", entries))
    entries = [
        EntrySpec("all.bin", array, tlvs=tuple(tlvs)),
        EntrySpec("before_1970", b"", tlvs=(mtime_tlv(-1),)),
        EntrySpec("scalar", b"\x01\x02", tlvs=(array_tlv("|u2", ()),)),
    ]
    writer.add(RecordSpec("together", entries))
    return writer.finish()


def metadata():
    """All three levels, in every format."""
    values = {
        META_JSON: b'{"split":"train"}',
        META_MSGPACK: MSGPACK_VALUE,
        META_OPAQUE: bytes(range(16)),
        META_CBOR: CBOR_VALUE,
    }
    writer = Writer(meta=meta(creator="MyName", training="true", größe="1"))
    for code, value in values.items():
        entries = [EntrySpec("x.txt", b"x", TEXT, tlvs=(metadata_tlv(code, value),))]
        writer.add(RecordSpec(META_NAMES[code], entries, code, value))
    writer.add(RecordSpec("none", [EntrySpec("x.txt", b"x", TEXT)]))
    return writer.finish()


def overlay():
    """Tombstones, a sample in three parts, and a key that is there twice."""
    writer = Writer(meta=meta(), sections=("ENTX", "KEYS", "KEYX", "STAT", "META"))
    writer.add_tombstone("gone")
    writer.add_tombstone("gone too", meta_format=META_JSON, metadata=b'{"why":"blurred"}')
    groups = [[EntrySpec(f"{number}.txt", bytes([65 + number]) * 9, TEXT)] for number in range(3)]
    writer.add_parts("large", groups, meta_format=META_JSON, metadata=b'{"parts":3}')
    for text in (b"first", b"second"):
        writer.add(RecordSpec("twice", [EntrySpec("x.txt", text, TEXT)]))
    return writer.finish()


def annotation(number):
    source = random.Random(number)
    return json.dumps(
        {
            "image_id": source.randrange(10**6),
            "category": source.choice(["person", "bicycle", "car", "traffic light", "bench"]),
            "bbox": [round(source.uniform(0, 640), 2) for _ in range(4)],
            "iscrowd": source.randrange(2),
            "annotator": source.choice(["anna", "bela", "cecil"]),
        }
    ).encode()


def dictionary():
    """A zstd dictionary in record 0, used by entries whole and in chunks."""
    samples = [annotation(number) for number in range(1000, 1400)]
    trained = zstandard.train_dictionary(1024, samples, k=64, d=8, dict_id=0x1234ABCD).as_bytes()
    writer = Writer(meta=meta(), sections=("ENTX", "KEYX", "ZDIC", "STAT", "META"))
    for number in range(3):
        data = annotation(number)
        entries = [
            EntrySpec("with.json", data, JSON, codec=ZSTD, dictionary=trained),
            EntrySpec("without.json", data, JSON, codec=ZSTD),
            EntrySpec(
                "chunks.json", data, JSON, codec=ZSTD, dictionary=trained, chunk_raw_size=1 << 16
            ),
        ]
        if number == 0:
            entries.insert(0, dictionary_entry(trained))
        writer.add(RecordSpec(f"sample{number}", entries))
    return writer.finish()


def entx_regular():
    writer = Writer(meta=meta(), sections=("ENTX", "KEYX", "STAT", "META"))
    for number in range(3):
        entries = [
            EntrySpec("image.jpg", noise(number, 50 + number), "image/jpeg"),
            EntrySpec("meta.json", b'{"n":%d}' % number, JSON),
        ]
        writer.add(RecordSpec(f"{number:06}", entries))
    return writer.finish()


def entx_irregular():
    """Columns missing, in another order, and of one name with two types."""
    writer = Writer(meta=meta(), sections=("ENTX", "KEYX", "STAT", "META"))
    image = EntrySpec("image", noise(1, 50), "image/jpeg")
    png = EntrySpec("image", noise(2, 50), "image/png")
    label = EntrySpec("label.json", b"{}", JSON)
    for number, entries in enumerate([[image, label], [label, image], [label], [png, label]]):
        writer.add(RecordSpec(f"{number:06}", entries))
    return writer.finish()


def compressed_sections():
    """Sections in every codec."""
    sections = (
        SectionSpec("ENTX", GZIP),
        SectionSpec("KEYS", ZSTD),
        SectionSpec("KEYX", LZ4),
        SectionSpec("STAT", NONE),
        SectionSpec("META", ZSTD, required=True),
    )
    writer = Writer(meta=meta(text=words(7, 300).decode()), sections=sections)
    for number in range(12):
        writer.add(RecordSpec(f"images/{number:04}", [EntrySpec("x.txt", b"%d" % number, TEXT)]))
    return writer.finish()


def aligned(align_log2):
    def make():
        writer = Writer(align_log2, meta=meta())
        for number in range(2 if align_log2 < 12 else 1):
            entries = [EntrySpec("a.bin", noise(number, 70), codec=NONE)]
            if align_log2 < 12:
                entries.append(EntrySpec("b.txt", words(number, 200), TEXT, codec=LZ4))
                entries.append(EntrySpec("c", b""))
            writer.add(RecordSpec(f"k{number}", entries))
        return writer.finish()

    make.__doc__ = f"Alignment {1 << align_log2}."
    return make


def unicode_keys():
    """Keys and names beyond ASCII, long, not in order; composed and decomposed are two."""
    writer = Writer(meta=meta(), sections=("KEYS", "KEYX", "STAT", "META"))
    keys = [
        "zürich/straße",
        "é",
        "e\u0301",
        "日本語/画像",
        "🦉",
        "with space\tand tab",
        "k" * 1000,
        "..",
        "/a",
    ]
    for key in keys:
        entries = [EntrySpec("übersicht.txt", key.encode(), "text/plain; charset=utf-8")]
        entries.append(EntrySpec("folder/名前.bin", b"\0", ""))
        writer.add(RecordSpec(key, entries))
    return writer.finish()


def ignorable():
    """What a reader of version 1.0 does not know and passes over."""
    sections = (SectionSpec("xtra", body=b"private", format=9), SectionSpec("NEWX", body=b"new"))
    unknown = (0x7777, b"later")
    writer = Writer(meta=meta(), sections=(*sections, "STAT", "META"))
    spec = RecordSpec(
        "a", [EntrySpec("x.txt", b"x", TEXT, tlvs=(unknown, mode_tlv(0o600)))], tlvs=(unknown,)
    )
    spec.flags = 0xF0
    writer.add(spec)
    return writer.finish(minor=7, features_optional=1 << 31)


GOOD = {
    "example": example,
    "empty": empty,
    "empty_bare": empty_bare,
    "no_sections": no_sections,
    "codecs": codecs,
    "chunked": chunked,
    "extensions": extensions,
    "metadata": metadata,
    "overlay": overlay,
    "dictionary": dictionary,
    "entx_regular": entx_regular,
    "entx_irregular": entx_irregular,
    "compressed_sections": compressed_sections,
    "align_8": aligned(3),
    "align_64": aligned(6),
    "align_4096": aligned(12),
    "unicode_keys": unicode_keys,
    "ignorable": ignorable,
}


# --- what they hold -------------------------------------------------------------------------


def describe_metadata(value):
    """Of an entry."""
    return None if value is None else {"format": META_NAMES[value[0]], "hex": value[1].hex()}


def describe_entry(entry):
    data = entry.read()
    return {
        "name": entry.name,
        "type": entry.stored_type,
        "size": len(data),
        "stored_size": entry.stored_size,
        "codec": CODEC_NAMES[entry.codec],
        "chunked": bool(entry.flags & CHUNKED),
        "aux": bool(entry.flags & AUX),
        "offset": entry.record.offset + entry.start,
        "crc32c": f"{entry.data_crc32c:08x}",
        "sha256": hashlib.sha256(data).hexdigest(),
        "metadata": describe_metadata(entry.metadata),
        "mtime": entry.mtime,
        "mode": entry.mode,
        "array": None
        if entry.array is None
        else {"dtype": entry.array[0], "shape": entry.array[1]},
    }


def describe_record(record):
    return {
        "offset": record.offset,
        "size": record.size,
        "key": record.key,
        "tombstone": bool(record.flags & TOMBSTONE),
        "part": list(record.part) if record.flags & PART else None,
        "metadata": None
        if record.meta_format == 0
        else {"format": META_NAMES[record.meta_format], "hex": record.metadata.hex()},
        "entries": [describe_entry(entry) for entry in record.entries],
    }


def describe_good(data, make):
    shard = Shard(data)
    stream = Stream(io.BytesIO(data))
    records = [describe_record(record) for record in shard]
    assert [describe_record(record) for record in stream] == records
    assert stream.verdict.kind == "Complete", stream.verdict
    assert verify(data) == [], verify(data)
    stat = shard.stat
    return {
        "about": (make.__doc__ or make.__name__.replace("_", " ")).strip(),
        "size": len(data),
        "align": 1 << shard.align_log2,
        "index_offset": shard.footer.index_offset,
        "footer_crc32c": data[-12:-8][::-1].hex(),
        "features_optional": shard.footer.features_optional,
        "minor_version": shard.footer.minor,
        "sections": [
            {"tag": section.tag, "codec": CODEC_NAMES[section.codec], "size": section.raw_size}
            for section in shard.sections.values()
        ],
        "meta": shard.meta,
        "stat": None
        if stat is None
        else {
            "entries": stat.entries,
            "raw_bytes": stat.raw_bytes,
            "stored_bytes": stat.stored_bytes,
            "min_record_size": stat.min_record_size,
            "max_record_size": stat.max_record_size,
            "keys_digest": f"{stat.keys_digest:016x}",
            "flags": stat.flags,
            "largest_raw_entry": stat.largest_raw_entry,
        },
        "records": records,
    }


def describe_bad(data, case):
    """What the reference says of a bad file; it must agree with what the case expects."""
    try:
        shard = Shard(data)
        opened = "ok"
    except ShardPackError as error:
        shard, opened = None, error.kind
    stream = Stream(io.BytesIO(data))
    for _ in stream:
        pass
    findings = verify(data)
    assert findings, case.name
    assert findings[0].kind == case.kind, (case.name, findings)
    assert findings[0].severity == case.severity, (case.name, findings)
    assert opened == (case.kind if case.at_open else "ok"), (case.name, opened)
    return {
        "row": case.row,
        "about": case.about,
        "kind": case.kind,
        "severity": case.severity,
        "open": opened,
        "stream": {"verdict": stream.verdict.kind, "records": stream.verdict.records},
        "record": case.record,
        "entry": case.entry,
        "readable_records": readable_records(shard) if shard else None,
        "findings": [[finding.severity, finding.kind] for finding in findings],
    }


def readable_records(shard):
    """Numbers of the records of which every entry can be read."""
    readable = []
    for number in range(len(shard)):
        try:
            for entry in shard[number].file_entries():
                entry.read()
        except ShardPackError:
            continue
        readable.append(number)
    return readable


def make_all():
    """Path below testdata -> bytes."""
    files, good, bad = {}, {}, {}
    for name, make in GOOD.items():
        data = make()
        files[f"good/{name}.shardpack"] = data
        good[f"{name}.shardpack"] = describe_good(data, make)
    for case in make_bad(files["good/example.shardpack"]):
        files[f"bad/{case.name}.shardpack"] = case.data
        bad[f"{case.name}.shardpack"] = describe_bad(case.data, case)
    for folder, expected in (("good", good), ("bad", bad)):
        text = json.dumps(expected, indent=1, ensure_ascii=False) + "\n"
        files[f"{folder}/expected.json"] = text.encode()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare with what is there")
    arguments = parser.parse_args()
    files = make_all()
    there = {
        str(path.relative_to(FOLDER))
        for part in ("good", "bad")
        for path in (FOLDER / part).glob("*")
    }
    if arguments.check:
        wrong = sorted(there ^ files.keys()) + [
            path
            for path in sorted(there & files.keys())
            if (FOLDER / path).read_bytes() != files[path]
        ]
        print(*(f"differs: {path}" for path in wrong), f"{len(files)} files", sep="\n")
        return 1 if wrong else 0
    for path in there - files.keys():
        (FOLDER / path).unlink()
    for path, data in files.items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
