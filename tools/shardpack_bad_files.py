"""Damaged and hostile ShardPack files: at least one for each row of the format's table of damages.

Part of make_shardpack_testdata.py. Most are good files with a few bytes changed, and with the
checksums above them made right again where it is not the checksum that is to be tested.
"""

import dataclasses
import struct

from shardpack_reference import Shard
from shardpack_reference_bytes import (
    GZIP,
    LZ4,
    NONE,
    PART,
    TOMBSTONE,
    ZSTD,
    compress,
    crc32c,
    part_tlv,
)
from shardpack_reference_encode import EntrySpec, RecordSpec
from shardpack_reference_writer import SectionSpec, Writer

TEXT = b"the same words again and again, the same words again and again, the same words again"


@dataclasses.dataclass
class Case:
    name: str
    row: str
    about: str
    kind: str
    data: bytes
    severity: str = "error"
    at_open: bool = False
    record: int | None = None
    entry: int | None = None


class Editor:
    """A good shard to spoil."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.shard = Shard(data)
        self.footer = len(data) - 64
        self.index = self.shard.footer.index_offset
        self.directory = self.shard.footer.directory_offset

    def record(self, number):
        return self.shard.offsets[number]

    def entry(self, record, number):
        return self.record(record) + self.shard[record].entries[number].start

    def content(self, record, number):
        return self.record(record) + self.shard[record].entries[number].data_start

    def put(self, at, layout, *values):
        struct.pack_into("<" + layout, self.data, at, *values)
        return self

    def flip(self, at):
        self.data[at] ^= 0x20
        return self

    def fix_record(self, number):
        at = self.record(number)
        meta, key, extensions = struct.unpack_from("<IHH", self.data, at + 16)
        end = at + 32 + key + extensions + meta
        return self.put(at + 24, "I", crc32c(self.data[at : at + 24], self.data[at + 28 : end]))

    def fix_entry(self, record, number):
        at = self.entry(record, number)
        end = at + 32 + sum(struct.unpack_from("<HHH", self.data, at + 20))
        return self.put(at + 28, "I", crc32c(self.data[at : at + 28], self.data[at + 32 : end]))

    def fix_content(self, record, number, size=None):
        """data_crc32c over `size` bytes, or all that is stored; then the head."""
        at, begin = self.entry(record, number), self.content(record, number)
        if size is None:
            (size,) = struct.unpack_from("<Q", self.data, at)
        self.put(at + 16, "I", crc32c(self.data[begin : begin + size]))
        return self.fix_entry(record, number)

    def fix_index(self):
        end = self.index + 8 * (1 + len(self.shard))
        return self.put(self.footer + 28, "I", crc32c(self.data[self.index : end])).fix_footer()

    def fix_directory(self):
        crc = crc32c(self.data[self.directory : self.footer])
        return self.put(self.footer + 32, "I", crc).fix_footer()

    def fix_footer(self):
        return self.put(self.footer + 52, "I", crc32c(self.data[self.footer : self.footer + 52]))


def shard_of(*entries, sections=("META",), **options):
    """One record in front of a good one, both with plain entries around."""
    writer = Writer(sections=sections)
    writer.add(RecordSpec("first", list(entries), **options))
    writer.add(RecordSpec("second", [EntrySpec("x.txt", b"x", "text/plain")]))
    return writer.finish()


def forced(codec, stored, raw_size, chunked=False):
    """A shard whose entry 1 of record 0 has these stored bytes, with right CRCs."""
    entry = EntrySpec("y.bin", stored)
    editor = Editor(
        shard_of(EntrySpec("before.txt", b"before"), entry, EntrySpec("z.txt", b"after"))
    )
    at = editor.entry(0, 1)
    editor.put(at + 8, "Q", raw_size).put(at + 26, "BB", codec, 1 if chunked else 0)
    size = None
    if chunked:
        size = 16 + 16 * struct.unpack_from("<I", stored, 8)[0]
    return editor.fix_content(0, 1, min(size, len(stored)) if chunked else None).data


def chunk_table(chunks, size=1 << 16, count=None, reserved=0, flags=0, shift=0):
    """A content area; each argument can make it wrong."""
    count = len(chunks) if count is None else count
    table, end = struct.pack("<QII", size, count, reserved), 16 + 16 * len(chunks)
    for chunk in chunks:
        end += len(chunk)
        table += struct.pack("<QII", end + shift, crc32c(chunk), flags)
    return table + b"".join(chunks)


def make_bad(example):
    """All cases. `example`: the worked example of the document."""
    cases = []

    def add(row, name, about, kind, data, **more):
        cases.append(Case(name, row, about, kind, bytes(data), **more))

    def edit(data=example):
        return Editor(data)

    _add_files(add, edit, example)
    _add_indexes(add, edit)
    _add_sections(add, edit)
    _add_records(add, edit)
    _add_entries(add, edit)
    _add_contents(add, edit)
    _add_unknown(add, edit)
    _add_padding(add, edit)
    return cases


def _add_files(add, edit, example):
    row = "last 8 bytes wrong, first record valid"
    cut = {"record": 0x130, "index": 0x1A8, "section": 0x200, "directory": 0x250, "footer": 0x2A0}
    for what, size in cut.items():
        add(
            row,
            f"cut_in_{what}",
            f"ends inside the {what}",
            "Incomplete",
            example[:size],
            at_open=True,
        )
    add(row, "cut_after_records", "no tail at all", "Incomplete", example[:0x1A0], at_open=True)
    add(
        row, "magic_wrong", "last byte", "Incomplete", edit().put(703, "B", 0x32).data, at_open=True
    )
    add(row, "appended", "5 bytes after the footer", "Incomplete", example + b"extra", at_open=True)
    row = "neither end recognised"
    add(row, "text", "a text file", "NotShardPack", b"This is a text file.\n" * 8, at_open=True)
    add(row, "zeros", "only zeros", "NotShardPack", bytes(256), at_open=True)
    add(row, "nothing", "no bytes", "NotShardPack", b"", at_open=True)
    row = "file shorter or longer than file_size"
    hole = example[:0x180] + example[0x190:]
    add(row, "hole", "16 bytes of record 1 lost", "Incomplete", hole, at_open=True)
    add(row, "concatenated", "two shards in one", "TrailingData", example + example, at_open=True)
    add(
        row,
        "prefixed",
        "64 bytes before record 0",
        "TrailingData",
        bytes(64) + example,
        at_open=True,
    )


def _add_indexes(add, edit):
    editor = edit()
    footer, index = editor.footer, editor.index
    row = "footer CRC"
    more = {"at_open": True}
    add(
        row,
        "footer_crc",
        "file size changed",
        "IndexCorrupt",
        edit().flip(footer + 16).data,
        **more,
    )
    row = (
        "count in index differs from footer, index CRC, offsets not ascending by record_size,"
        " offset beyond index_offset"
    )
    for name, about, at, value in [
        ("index_count", "count 3", index, 3),
        ("index_offset_beyond", "offset[1] past the index", index + 16, 0x1A8),
        ("index_not_ascending", "offset[1] = 0", index + 16, 0),
        ("index_first", "offset[0] = 8", index + 8, 8),
        ("index_unaligned", "offset[1] not a multiple of 8", index + 16, 0x111),
    ]:
        add(row, name, about, "IndexCorrupt", edit().put(at, "Q", value).fix_index().data, **more)
    data = edit().put(index + 16, "Q", 0x108).fix_index().data
    add(row, "index_not_by_size", "offset[1] 8 bytes early", "IndexCorrupt", data, record=0)
    add(row, "index_crc", "offset[1] changed", "IndexCorrupt", edit().flip(index + 16).data, **more)
    for name, about, at, layout, value in [
        ("footer_index_beyond", "index_offset past the end", 0, "Q", 1 << 40),
        ("footer_index_huge", "index_offset near 2^64", 0, "Q", (1 << 64) - 8),
        ("footer_count_huge", "2^61 records", 8, "Q", 1 << 61),
        ("footer_count_zero", "no records before the index", 8, "Q", 0),
        ("footer_directory_odd", "directory of 79 bytes", 24, "I", 79),
        ("footer_directory_huge", "directory before the file", 24, "I", 40 << 20),
        ("footer_align_small", "alignment 4", 38, "B", 2),
        ("footer_align_large", "alignment 8192", 38, "B", 13),
    ]:
        data = edit().put(footer + at, layout, value).fix_footer().data
        add(row, name, about, "IndexCorrupt", data, **more)


def _add_sections(add, edit):
    row = "directory or section CRC"
    warning = {"severity": "warning"}
    editor = edit()
    data = edit().flip(editor.directory + 8).data
    add(row, "directory_crc", "offset of KEYX changed", "SectionCorrupt", data, **warning)
    data = edit().flip(editor.shard.sections["META"].offset + 3).data
    add(row, "meta_crc", "META changed", "SectionCorrupt", data, **warning)
    data = edit().flip(editor.shard.sections["KEYX"].offset + 20).data
    add(row, "keyx_crc", "a hash changed", "SectionCorrupt", data, **warning)
    data = edit().put(editor.directory + 8, "Q", 1 << 40).fix_directory().data
    add(row, "section_beyond", "KEYX past the end", "SectionCorrupt", data, **warning)
    data = edit().put(editor.directory + 8, "Q", 0).fix_directory().data
    add(row, "section_in_records", "KEYX at 0", "SectionCorrupt", data, **warning)
    data = edit().put(editor.directory + 24, "Q", 41).fix_directory().data
    add(row, "section_raw_size", "KEYX of 40 bytes says 41", "SectionCorrupt", data, **warning)
    good = shard_of(EntrySpec("x", b"1"), sections=(SectionSpec("META", required=True),))
    data = edit(good).flip(Editor(good).shard.sections["META"].offset + 3).data
    add(row, "required_meta_crc", "META changed, REQUIRED", "SectionCorrupt", data, at_open=True)
    bodies = {
        "keyx_count": (
            "KEYX",
            struct.pack("<QQ3Q3I", 3, 1, 1, 2, 3, 0, 1, 2),
            "3 keys for 2 records",
        ),
        "keyx_count_huge": ("KEYX", struct.pack("<QQ", 1 << 62, 1), "2^62 keys"),
        "keyx_record_beyond": ("KEYX", struct.pack("<QQ2Q2I", 2, 1, 1, 2, 0, 7), "record 7 of 2"),
        "keys_cut": ("KEYS", struct.pack("<H5sH", 5, b"first", 6), "ends inside a key"),
        "entx_columns_huge": ("ENTX", struct.pack("<II", 0xFFFFFFFF, 1), "2^32-1 columns"),
        "stat_short": ("STAT", bytes(56), "56 bytes"),
        "stat_wrong": ("STAT", bytes(64), "all zero"),
        "zdic_count_huge": ("ZDIC", struct.pack("<II", 0xFFFFFFFF, 0), "2^32-1 dictionaries"),
        "meta_not_json": ("META", b"{not JSON}", "not JSON"),
    }
    for name, (tag, body, about) in bodies.items():
        data = shard_of(EntrySpec("x", b"1"), sections=(SectionSpec(tag, body=body),))
        add(row, name, f"{tag}: {about}; CRCs are right", "SectionCorrupt", data, **warning)


def _add_records(add, edit):
    row = "record head CRC / magic / impossible size"

    def spoil(name, about, at, layout, value, kind="RecordCorrupt", fix=True, record=1):
        editor = edit()
        editor.put(editor.record(record) + at, layout, value)
        data = (editor.fix_record(record) if fix else editor).data
        add(row, name, about, kind, data, record=record)

    spoil("record_head_crc", "a byte of the key", 33, "B", 0x58, fix=False)
    spoil("record_magic", "SPKX", 8, "4s", b"SPKX")
    spoil("record_magic_first", "SPKX in record 0", 8, "4s", b"SPKX", record=0)
    spoil("record_size_crc", "record_size 2^40, head CRC wrong", 0, "Q", 1 << 40, fix=False)
    spoil("record_size_zero", "record_size 0, head CRC right", 0, "Q", 0)
    spoil("record_size_other", "record_size 8 too large", 0, "Q", 0x98, "IndexCorrupt")
    spoil("record_size_huge", "record_size 2^62", 0, "Q", 1 << 62, "IndexCorrupt")
    spoil("record_align_other", "alignment 16 in a shard of 8", 13, "B", 4)
    spoil("record_meta_huge", "meta_len past the record", 16, "I", 0xFFFFFFF0, fix=False)
    spoil("record_meta_format_none", "metadata in format none", 15, "B", 0)
    spoil("record_key_not_utf8", "key with byte FF", 32, "B", 0xFF)
    spoil("record_key_nul", "key with NUL", 32, "B", 0)
    spoil("record_no_entries", "entry_count 0 without TOMBSTONE", 28, "I", 0)
    spoil("record_entries_huge", "entry_count 2^32-1", 28, "I", 0xFFFFFFFF)
    spoil("record_entries_many", "entry_count 2, one is there", 28, "I", 2, "EntryCorrupt")
    spoil("record_tombstone_with_entry", "TOMBSTONE with an entry", 14, "B", TOMBSTONE)
    spoil("record_part_without_number", "PART without its extension", 14, "B", PART)
    spoil("record_entries_few", "entry_count 2, three are there", 28, "I", 2, record=0)
    spoil("record_extension_beyond", "an extension longer than the area", 22, "H", 6)
    editor = edit()
    data = (
        editor.put(editor.record(1) + 20, "H", 0)
        .put(editor.record(1) + 16, "I", 34)
        .fix_record(1)
        .data
    )
    add(row, "record_key_empty", "key_len 0", "RecordCorrupt", data, record=1)
    editor = edit(shard_of(EntrySpec("x", b"1"), flags=PART, tlvs=(part_tlv(0, 3),)))
    data = editor.put(32 + len("first") + 4, "I", 3).fix_record(0).data
    add(row, "record_part_number", "part 3 of 3", "RecordCorrupt", data, record=0)
    editor = edit(shard_of(EntrySpec("a", b"1"), EntrySpec("b", b"2")))
    editor.put(editor.entry(0, 1) + 32, "c", b"a").fix_entry(0, 1)
    add(
        row,
        "record_name_twice",
        "two entries named a",
        "EntryCorrupt",
        editor.data,
        record=0,
        entry=1,
    )


def _add_entries(add, edit):
    row = "entry head CRC"

    def spoil(name, about, at, layout, value, fix=True, **more):
        editor = edit()
        editor.put(editor.entry(0, 1) + at, layout, value)
        data = (editor.fix_entry(0, 1) if fix else editor).data
        add(row, name, about, "EntryCorrupt", data, record=0, entry=1, **more)

    spoil("entry_head_crc", "a byte of the name", 33, "B", 0x58, fix=False)
    spoil("entry_stored_size", "stored_size past the record", 0, "Q", 1 << 40)
    spoil("entry_stored_size_wraps", "stored_size near 2^64", 0, "Q", (1 << 64) - 8)
    spoil("entry_name_long", "name_len past the record", 20, "H", 0xFFFF, fix=False)
    spoil("entry_name_not_utf8", "name with byte FF", 32, "B", 0xFF)
    spoil("entry_name_nul", "name with NUL", 32, "B", 0)
    spoil("entry_type_not_utf8", "type with byte FF", 41, "B", 0xFF)
    spoil("entry_extension_beyond", "an extension longer than the area", 24, "H", 3)
    editor = edit()
    at = editor.entry(0, 1)
    data = editor.put(at + 20, "HH", 0, 19).fix_entry(0, 1).data
    add(row, "entry_name_empty", "name_len 0", "EntryCorrupt", data, record=0, entry=1)
    for name, about, tlv in [
        ("entry_mtime_short", "MTIME of 4 bytes", (2, b"1234")),
        ("entry_array_short", "ARRAY with half a shape", (4, b"\x03<f4\x02" + bytes(8))),
        ("entry_metadata_empty", "METADATA without a format", (1, b"")),
    ]:
        data = shard_of(EntrySpec("a", b"1"), EntrySpec("b", b"2", tlvs=(tlv,)))
        add(row, name, about, "EntryCorrupt", data, record=0, entry=1)


def _add_contents(add, edit):
    more = {"record": 0, "entry": 1}
    row = "payload or chunk CRC"
    editor = edit()
    data = editor.flip(editor.content(0, 1) + 4).data
    add(row, "payload_crc", "a byte of the data", "EntryCorrupt", data, **more)
    plain = [TEXT]
    good = chunk_table(plain)
    data = bytearray(forced(NONE, good, len(TEXT), chunked=True))
    data[data.index(TEXT) + 3] ^= 1
    add(row, "chunk_crc", "a byte of a chunk", "EntryCorrupt", data, **more)
    data = bytearray(forced(NONE, good, len(TEXT), chunked=True))
    data[data.index(good) + 16] ^= 1
    add(row, "chunk_table_crc", "the end of a chunk", "EntryCorrupt", data, **more)

    row = "decompressor error or length differs from raw_size"
    for name, about, content in [
        ("chunk_size_odd", "chunk size not a power of two", chunk_table(plain, size=65537)),
        ("chunk_size_small", "chunk size 32768", chunk_table(plain, size=1 << 15)),
        ("chunk_size_large", "chunk size 2^31", chunk_table(plain, size=1 << 31)),
        ("chunk_size_zero", "chunk size 0", chunk_table(plain, size=0)),
        ("chunk_count_many", "more chunks than the size needs", chunk_table([TEXT, b""])),
        ("chunk_count_huge", "a table longer than the content", chunk_table(plain, count=1 << 31)),
        ("chunk_end_beyond", "a chunk ends past the content", chunk_table(plain, shift=1)),
        ("chunk_end_wraps", "a chunk ends near 2^64", chunk_table(plain, shift=(1 << 64) - 256)),
        ("chunk_bytes_after", "a byte after the last chunk", chunk_table(plain) + b"x"),
    ]:
        data = forced(NONE, content, len(TEXT), chunked=True)
        add(row, name, about, "EntryCorrupt", data, **more)
    data = forced_short_table()
    add(row, "chunk_table_short", "8 bytes of content", "EntryCorrupt", data, **more)
    packed = {codec: compress(codec, TEXT) for codec in (GZIP, LZ4, ZSTD)}
    names = {GZIP: "gzip", LZ4: "lz4", ZSTD: "zstd"}
    for codec, stored in packed.items():
        name, size = names[codec], len(TEXT)
        for what, about, data in [
            ("short", "raw_size one too large", forced(codec, stored, size + 1)),
            ("long", "raw_size one too small", forced(codec, stored, size - 1)),
            ("cut", "last byte missing", forced(codec, stored[:-1], size)),
            ("garbage", "not compressed at all", forced(codec, b"\xff" * 40, size)),
            ("empty", "no stored bytes; above the ratio too", forced(codec, b"", 0)),
        ]:
            add(row, f"{name}_{what}", about, "EntryCorrupt", data, **more)
    for name, stored in [
        ("gzip_two_members", packed[GZIP] + compress(GZIP, b"")),
        ("gzip_bytes_after", packed[GZIP] + b"\0"),
        ("gzip_inner_crc", packed[GZIP][:-8] + bytes(4) + packed[GZIP][-4:]),
        ("zstd_two_frames", packed[ZSTD] + compress(ZSTD, b"")),
        ("zstd_skippable", struct.pack("<II", 0x184D2A50, 0) + packed[ZSTD]),
    ]:
        codec = GZIP if name.startswith("gzip") else ZSTD
        add(
            row,
            name,
            name.replace("_", " "),
            "EntryCorrupt",
            forced(codec, stored, len(TEXT)),
            **more,
        )
    # The magic, a descriptor with a 4-byte dictionary id and a 1-byte size, and one raw block.
    frame = struct.pack("<IBIB", 0xFD2FB528, 0x23, 77, 1) + b"\x09\x00\x00x"
    data = forced(ZSTD, frame, 1)
    add(row, "zstd_dictionary_missing", "names dictionary 77", "EntryCorrupt", data, **more)
    data = forced(NONE, TEXT, len(TEXT) + 1)
    add(row, "none_raw_size", "raw_size is not stored_size", "EntryCorrupt", data, **more)

    row = "raw_size above the caller's limit"
    data = forced(ZSTD, compress(ZSTD, bytes(1 << 20)), 1 << 20)
    add(row, "ratio", "1 MiB of zeros: over 1:4096", "LimitExceeded", data, **more)
    data = forced(LZ4, packed[LZ4], 1 << 40)
    add(row, "raw_size", "raw_size 2^40", "LimitExceeded", data, **more)
    data = forced(ZSTD, chunk_table(plain, size=1 << 30, count=1), (1 << 64) - 1, chunked=True)
    add(row, "raw_size_chunked", "raw_size 2^64-1, in chunks", "LimitExceeded", data, **more)


def forced_short_table():
    """A chunked entry of 8 bytes, which is no whole table."""
    editor = Editor(shard_of(EntrySpec("before.txt", b"before"), EntrySpec("y.bin", bytes(8))))
    editor.put(editor.entry(0, 1) + 27, "B", 1)
    return editor.fix_entry(0, 1).data


def _add_unknown(add, edit):
    more = {"record": 0, "entry": 1}
    row = "unknown codec"
    for codec in (4, 200):
        data = forced(codec, TEXT, len(TEXT))
        add(row, f"codec_{codec}", f"codec {codec}", "UnsupportedCodec", data, **more)
    row = "unknown required feature / major version"
    footer = edit().footer
    data = edit().put(footer + 40, "I", 1 << 5).fix_footer().data
    add(row, "feature_required", "required feature bit 5", "UnsupportedFeature", data, at_open=True)
    data = edit().put(footer + 36, "B", 2).fix_footer().data
    add(row, "major_version", "version 2.0", "UnsupportedVersion", data, at_open=True)
    required = SectionSpec("NEWX", required=True, body=b"new")
    data = shard_of(EntrySpec("x", b"1"), sections=(required,))
    add(row, "section_required", "section NEWX, REQUIRED", "UnsupportedFeature", data, at_open=True)
    row = "unknown must-understand bit or critical extension (2.7, 2.15)"
    editor = edit()
    data = editor.put(editor.record(1) + 12, "B", 2).fix_record(1).data
    add(row, "record_version", "record of version 2", "UnsupportedVersion", data, record=1)
    editor = edit()
    data = editor.put(editor.record(1) + 14, "B", 4).fix_record(1).data
    add(row, "record_flag", "record flag bit 2", "UnsupportedFeature", data, record=1)
    editor = edit(shard_of(EntrySpec("x", b"1"), tlvs=((0x0123, b""),)))
    data = editor.put(32 + len("first"), "H", 0x8123).fix_record(0).data
    add(row, "record_critical", "record extension 0x8123", "UnsupportedFeature", data, record=0)
    editor = edit()
    data = editor.put(editor.entry(0, 1) + 27, "B", 8).fix_entry(0, 1).data
    add(row, "entry_flag", "entry flag bit 3", "UnsupportedFeature", data, **more)
    encrypted = EntrySpec("b", b"2", tlvs=((0x8010, b"key"),))
    data = shard_of(EntrySpec("a", b"1"), encrypted, EntrySpec("c", b"3"))
    add(row, "entry_critical", "entry extension 0x8010", "UnsupportedFeature", data, **more)


def _add_padding(add, edit):
    row = "non-zero padding or reserved bytes"
    editor = edit()
    for name, about, at in [
        ("padding_after_head", "after the record's head", 0x34),
        ("padding_before_data", "before the data", 0x6B),
        ("padding_after_data", "after the data", 0xBA),
        ("padding_end_of_record", "at the end of a record", 0x10F),
        ("padding_after_section", "after META", editor.directory - 1),
    ]:
        add(row, name, about, "Padding", edit().put(at, "B", 1).data, severity="warning")
    data = edit().put(editor.footer + 48, "I", 1).fix_footer().data
    add(row, "reserved_footer", "in the footer", "Padding", data, severity="warning")
    data = edit().put(editor.directory + 36, "I", 1).fix_directory().data
    add(row, "reserved_directory", "in the directory", "Padding", data, severity="warning")
    data = forced(NONE, chunk_table([TEXT], reserved=1), len(TEXT), chunked=True)
    add(row, "reserved_chunk_table", "in a chunk table", "Padding", data, severity="warning")
    data = forced(NONE, chunk_table([TEXT], flags=2), len(TEXT), chunked=True)
    add(row, "reserved_chunk_flags", "in the flags of a chunk", "Padding", data, severity="warning")
