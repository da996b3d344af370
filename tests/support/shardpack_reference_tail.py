"""ShardPack v1, written a second time from its document: footer, directory and sections."""

import dataclasses
import json
import struct

from shardpack_reference_bytes import (
    CODEC_NAMES,
    DIRECTORY_ENTRY_SIZE,
    FOOTER_MAGIC,
    FOOTER_SIZE,
    SECTION_REQUIRED,
    CodecError,
    ShardPackError,
    crc32c,
    decompress,
    up,
    xxh64,
)

_FOOTER = struct.Struct("<QQQIIIBBBBIIII8s")
_DIRECTORY_ENTRY = struct.Struct("<4sHBBQQQII")
_STAT = struct.Struct("<QQQQQQIIQ")
_ENTX_ROW = struct.Struct("<QQII")
_ZDIC_ROW = struct.Struct("<IIQQ")
assert _FOOTER.size == FOOTER_SIZE
assert _DIRECTORY_ENTRY.size == DIRECTORY_ENTRY_SIZE
assert _STAT.size == 64

STAT_KEYS_UNIQUE, STAT_KEYS_ASCENDING, STAT_PLAIN, STAT_SAME_ENTRIES, STAT_PARTS = 1, 2, 4, 8, 16
STAT_KNOWN_FLAGS = 0x1F
ENTX_REGULAR = 1
KEY_HASH_XXH64 = 1
KNOWN_TAGS = ("META", "STAT", "KEYX", "KEYS", "ENTX", "ZDIC")


@dataclasses.dataclass
class Footer:
    index_offset: int
    record_count: int
    file_size: int
    directory_size: int
    index_crc32c: int
    directory_crc32c: int
    align_log2: int
    major: int = 1
    minor: int = 0
    features_required: int = 0
    features_optional: int = 0
    reserved: tuple = (0, 0)

    def encode(self):
        first = struct.pack(
            "<QQQIIIBBBBIII",
            self.index_offset,
            self.record_count,
            self.file_size,
            self.directory_size,
            self.index_crc32c,
            self.directory_crc32c,
            self.major,
            self.minor,
            self.align_log2,
            self.reserved[0],
            self.features_required,
            self.features_optional,
            self.reserved[1],
        )
        return first + struct.pack("<I", crc32c(first)) + FOOTER_MAGIC

    @staticmethod
    def decode(data):
        """From the last 64 bytes, whose magic the caller has seen. Checks what they say alone."""
        fields = _FOOTER.unpack(data)
        found = crc32c(data[:52])
        if found != fields[13]:
            raise ShardPackError(
                "IndexCorrupt", f"footer CRC32C is {found:08x}, expected {fields[13]:08x}"
            )
        footer = Footer(
            *fields[:6],
            major=fields[6],
            minor=fields[7],
            align_log2=fields[8],
            features_required=fields[10],
            features_optional=fields[11],
            reserved=(fields[9], fields[12]),
        )
        if footer.major != 1:
            raise ShardPackError("UnsupportedVersion", f"version {footer.major}.{footer.minor}")
        if footer.features_required:
            bit = (footer.features_required & -footer.features_required).bit_length() - 1
            raise ShardPackError(
                "UnsupportedFeature", f"required feature bit {bit} is not known", bit=bit
            )
        return footer

    def check(self, actual_size):
        """Against the size of the file, and its numbers against each other."""
        if actual_size < self.file_size:
            raise ShardPackError(
                "Incomplete", f"the file has {actual_size} bytes, its footer says {self.file_size}"
            )
        if actual_size > self.file_size:
            raise ShardPackError(
                "TrailingData",
                f"the file has {actual_size} bytes, its footer says {self.file_size}",
            )
        index_end = self.index_offset + 8 * (1 + self.record_count)
        problem = None
        if not 3 <= self.align_log2 <= 12:
            problem = f"alignment 2^{self.align_log2}, expected 2^3 to 2^12"
        elif self.directory_size % DIRECTORY_ENTRY_SIZE:
            problem = f"directory of {self.directory_size} bytes, not a multiple of 40"
        elif index_end > self.directory_offset:
            problem = f"index ends at {index_end}, past the directory at {self.directory_offset}"
        elif self.index_offset % (1 << self.align_log2):
            problem = f"index at {self.index_offset}, not a multiple of 2^{self.align_log2}"
        elif (self.index_offset == 0) != (self.record_count == 0):
            problem = f"{self.record_count} records before an index at {self.index_offset}"
        if problem:
            raise ShardPackError("IndexCorrupt", problem)

    @property
    def directory_offset(self):
        return self.file_size - FOOTER_SIZE - self.directory_size


@dataclasses.dataclass
class Section:
    """A row of the directory."""

    tag: str
    flags: int
    codec: int
    format: int
    offset: int
    stored_size: int
    raw_size: int
    crc32c: int
    reserved: int = 0

    def encode(self):
        return _DIRECTORY_ENTRY.pack(self.tag.encode("latin-1"), *dataclasses.astuple(self)[1:])

    @staticmethod
    def decode(data):
        tag, *rest = _DIRECTORY_ENTRY.unpack(data)
        return Section(tag.decode("latin-1"), *rest)

    @property
    def is_required(self):
        return bool(self.flags & SECTION_REQUIRED)

    def body(self, file, footer, limits):
        """The decoded body from the bytes of the file, or ShardPackError."""
        begin = footer.index_offset + 8 * (1 + footer.record_count)
        if not begin <= self.offset <= self.offset + self.stored_size <= footer.directory_offset:
            raise self.damage(
                f"{self.offset}+{self.stored_size} is not in {begin}..{footer.directory_offset}"
            )
        stored = file[self.offset : self.offset + self.stored_size]
        found = crc32c(stored)
        if found != self.crc32c:
            raise self.damage(f"CRC32C is {found:08x}, expected {self.crc32c:08x}")
        if self.codec not in CODEC_NAMES:
            raise ShardPackError(
                "UnsupportedCodec", f"section {self.tag}: codec {self.codec}", section=self.tag
            )
        if self.raw_size > limits.section:
            raise ShardPackError(
                "LimitExceeded",
                f"section {self.tag}: {self.raw_size} bytes, at most {limits.section} allowed",
                section=self.tag,
            )
        try:
            return decompress(self.codec, stored, self.raw_size, {})
        except CodecError as error:
            raise self.damage(str(error)) from None

    def damage(self, message):
        return ShardPackError("SectionCorrupt", f"section {self.tag}: {message}", section=self.tag)


class BodyError(Exception):
    """A section's body that contradicts its layout."""


def _take(body, at, layout):
    size = struct.calcsize(layout)
    if at + size > len(body):
        raise BodyError(f"ends at {len(body)}, expected at least {at + size} bytes")
    return struct.unpack_from(layout, body, at), at + size


def _end(body, at):
    if at != len(body):
        raise BodyError(f"has {len(body)} bytes, expected {at}")


# --- META -----------------------------------------------------------------------------------


def decode_meta(body):
    try:
        value = json.loads(body)
    except ValueError as error:
        raise BodyError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BodyError("is not a JSON object")
    return value


# --- STAT -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Stat:
    entries: int
    raw_bytes: int
    stored_bytes: int
    min_record_size: int
    max_record_size: int
    keys_digest: int
    flags: int
    largest_raw_entry: int
    reserved: int = 0

    def encode(self):
        return _STAT.pack(*dataclasses.astuple(self)[:7], self.reserved, self.largest_raw_entry)

    @staticmethod
    def decode(body):
        _end(body, _STAT.size)
        *first, reserved, largest = _STAT.unpack(body)
        return Stat(*first, largest, reserved)


def make_stat(records):
    """Of parsed records, in order. AUX entries count in sums, not in the list of names."""
    entries = [entry for record in records for entry in record.entries]
    sizes = [record.size for record in records] or [0]
    keys = [record.key.encode() for record in records]
    lists = {
        tuple((entry.name, entry.stored_type) for entry in record.entries if not entry.is_aux)
        for record in records
    }
    flags = 0
    if len(set(keys)) == len(keys):
        flags |= STAT_KEYS_UNIQUE
    if all(first < second for first, second in zip(keys, keys[1:])):
        flags |= STAT_KEYS_ASCENDING
    if not any(entry.codec or entry.is_chunked for entry in entries):
        flags |= STAT_PLAIN
    if len(lists) <= 1:
        flags |= STAT_SAME_ENTRIES
    if any(record.part for record in records):
        flags |= STAT_PARTS
    return Stat(
        entries=len(entries),
        raw_bytes=sum(entry.raw_size for entry in entries),
        stored_bytes=sum(entry.stored_size for entry in entries),
        min_record_size=min(sizes),
        max_record_size=max(sizes),
        keys_digest=xxh64(encode_keys(keys)),
        flags=flags,
        largest_raw_entry=max((entry.raw_size for entry in entries), default=0),
    )


# --- KEYS and KEYX --------------------------------------------------------------------------


def encode_keys(keys):
    """From bytes. Also what STAT's keys_digest is taken of."""
    return b"".join(struct.pack("<H", len(key)) + key for key in keys)


def decode_keys(body, count):
    keys, at = [], 0
    for _ in range(count):
        (size,), at = _take(body, at, "<H")
        (key,), at = _take(body, at, f"{size}s")
        try:
            keys.append(key.decode())
        except UnicodeDecodeError:
            raise BodyError(f"key {len(keys)} is not UTF-8") from None
    _end(body, at)
    return keys


def encode_keyx(keys):
    pairs = sorted((xxh64(key), number) for number, key in enumerate(keys))
    hashes, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    head = struct.pack("<QB7x", len(pairs), KEY_HASH_XXH64)
    return head + struct.pack(f"<{len(pairs)}Q", *hashes) + struct.pack(f"<{len(pairs)}I", *numbers)


def decode_keyx(body, count):
    """[(hash, record number)], checked for order."""
    (n, kind), at = _take(body, 0, "<QB7x")
    if n != count:
        raise BodyError(f"is of {n} records, expected {count}")
    if kind != KEY_HASH_XXH64:
        raise BodyError(f"hash kind {kind} is not known")
    _end(body, at + 12 * n)
    hashes = struct.unpack_from(f"<{n}Q", body, at)
    numbers = struct.unpack_from(f"<{n}I", body, at + 8 * n)
    pairs = list(zip(hashes, numbers))
    if any(first >= second for first, second in zip(pairs, pairs[1:])):
        raise BodyError("is not in ascending order")
    if sorted(numbers) != list(range(n)):
        raise BodyError("does not name each record once")
    return pairs


# --- ENTX -----------------------------------------------------------------------------------


@dataclasses.dataclass
class EntryIndex:
    """columns: (name, type) pairs. rows: for each record, (offset, length, column) triples."""

    columns: list
    regular: bool
    rows: list

    def encode(self):
        body = struct.pack("<II", len(self.columns), ENTX_REGULAR if self.regular else 0)
        for name, kind in self.columns:
            name, kind = name.encode(), kind.encode()
            body += struct.pack("<HH", len(name), len(kind)) + name + kind
        body += bytes(up(len(body), 8) - len(body))
        if not self.regular:
            first = [0]
            for row in self.rows:
                first.append(first[-1] + len(row))
            body += struct.pack(f"<{len(first)}Q", *first)
        return body + b"".join(_ENTX_ROW.pack(*item, 0) for row in self.rows for item in row)

    @staticmethod
    def decode(body, count):
        (column_count, flags), at = _take(body, 0, "<II")
        columns = []
        for _ in range(column_count):
            (name_size, type_size), at = _take(body, at, "<HH")
            (name, kind), at = _take(body, at, f"{name_size}s{type_size}s")
            columns.append((name.decode(errors="replace"), kind.decode(errors="replace")))
        at = up(at, 8)
        regular = bool(flags & ENTX_REGULAR)
        if regular:
            if at + count * column_count * _ENTX_ROW.size != len(body):
                raise BodyError(f"{len(body)} bytes for {count} records of {column_count} columns")
            first = [column_count * number for number in range(count + 1)]
        else:
            first, at = _take(body, at, f"<{count + 1}Q")
        if first[0] != 0 or any(before > after for before, after in zip(first, first[1:])):
            raise BodyError("first[] is not ascending from 0")
        _end(body, at + _ENTX_ROW.size * first[-1])
        flat = [row[:3] for row in _ENTX_ROW.iter_unpack(body[at:])]
        if any(row[2] >= column_count for row in flat):
            raise BodyError("a row names a column that is not there")
        rows = [flat[begin:end] for begin, end in zip(first, first[1:])]
        if regular and any(
            [row[2] for row in items] != list(range(column_count)) for items in rows
        ):
            raise BodyError("is regular, but columns are not in order")
        return EntryIndex(columns, regular, rows)


def make_entx(records):
    """Of parsed records, without AUX entries. Columns come in the order of their first use."""
    columns, rows = {}, []
    for record in records:
        rows.append(
            [
                (
                    record.offset + entry.start,
                    entry.end - entry.start,
                    columns.setdefault((entry.name, entry.stored_type), len(columns)),
                )
                for entry in record.entries
                if not entry.is_aux
            ]
        )
    regular = all([row[2] for row in items] == list(range(len(columns))) for items in rows)
    return EntryIndex(list(columns), regular, rows)


# --- ZDIC -----------------------------------------------------------------------------------


def encode_zdic(rows):
    """From (id, offset of the entry header, bytes from there to the end of its data)."""
    return struct.pack("<II", len(rows), 0) + b"".join(
        _ZDIC_ROW.pack(id, 0, offset, length) for id, offset, length in rows
    )


def decode_zdic(body):
    (count, _), at = _take(body, 0, "<II")
    _end(body, at + _ZDIC_ROW.size * count)
    return [(id, offset, length) for id, _, offset, length in _ZDIC_ROW.iter_unpack(body[at:])]
