"""ShardPack v1, written a second time from its document: reading records and their entries."""

import struct

from shardpack_reference_bytes import (
    AUX,
    CHUNK_IS_RAW,
    CHUNKED,
    CODEC_NAMES,
    ENTRY_TLVS,
    META_NONE,
    MUST_UNDERSTAND,
    NONE,
    PART,
    RECORD_MAGIC,
    RECORD_TLVS,
    SMALLEST_RECORD,
    TLV_ARRAY,
    TLV_CRITICAL,
    TLV_METADATA,
    TLV_MODE,
    TLV_MTIME,
    TLV_RECORD_PART,
    TLV_SEGMENT,
    TOMBSTONE,
    CodecError,
    Limits,
    ShardPackError,
    crc32c,
    decode_array,
    decode_tlvs,
    decompress,
    up,
)

RECORD_HEADER = struct.Struct("<Q4sBBBBIHHII")
ENTRY_HEADER = struct.Struct("<QQIHHHBBI")
CHUNK_TABLE_HEADER = struct.Struct("<QII")
CHUNK_ROW = struct.Struct("<QII")
SMALLEST_ENTRY = 33  # header and name
assert RECORD_HEADER.size == ENTRY_HEADER.size == 32


def _text(data, what, fail):
    try:
        text = bytes(data).decode()
    except UnicodeDecodeError:
        raise fail(f"{what} is not UTF-8: {bytes(data)!r}") from None
    if "\0" in text:
        raise fail(f"{what} has a NUL: {text!r}")
    return text


class Entry:
    """One file entry of a record; made by Record alone. Its head has been checked."""

    def __init__(self, record, number, start):
        self.record, self.number, self.start = record, number, start
        self.warnings = []
        block = record.block
        if start + 32 > len(block):
            raise self._fail(f"header at {start} does not fit a record of {len(block)} bytes")
        (
            self.stored_size,
            self.raw_size,
            self.data_crc32c,
            name_size,
            type_size,
            extension_size,
            self.codec,
            self.flags,
            head_crc,
        ) = ENTRY_HEADER.unpack_from(block, start)
        head_end = start + 32 + name_size + type_size + extension_size
        if head_end > len(block):
            raise self._fail(f"head ends at {head_end}, past the record of {len(block)} bytes")
        found = crc32c(block[start : start + 28], block[start + 32 : head_end])
        if found != head_crc:
            raise self._fail(f"head CRC32C is {found:08x}, expected {head_crc:08x}")
        at = start + 32
        if name_size == 0:
            raise self._fail("has no name")
        self.name = _text(block[at : at + name_size], "entry name", self._fail)
        at += name_size
        self.stored_type = _text(block[at : at + type_size], "content type", self._fail)
        at += type_size
        try:
            self.tlvs = decode_tlvs(block[at:head_end])
            self._check_tlvs()
        except (ValueError, struct.error) as error:
            raise self._fail(str(error)) from None
        self.data_start = up(head_end, record.align)
        self.end = self.data_start + self.stored_size
        if self.end > len(block):
            raise self._fail(f"data ends at {self.end}, past the record of {len(block)} bytes")
        if any(block[head_end : self.data_start]):
            self.warnings.append("padding before the data is not zero")

    def _check_tlvs(self):
        tlvs = dict(self.tlvs)
        for kind, size in ((TLV_MTIME, 8), (TLV_MODE, 4)):
            if kind in tlvs and len(tlvs[kind]) != size:
                raise ValueError(f"extension 0x{kind:04x} has {len(tlvs[kind])} bytes, not {size}")
        if TLV_SEGMENT in tlvs:
            if len(tlvs[TLV_SEGMENT]) != 16:
                raise ValueError(f"segment of {len(tlvs[TLV_SEGMENT])} bytes, not 16")
            offset, whole_size = struct.unpack("<QQ", tlvs[TLV_SEGMENT])
            if offset + self.raw_size > whole_size:
                raise ValueError(f"segment [{offset}, +{self.raw_size}) of {whole_size}")
        if TLV_METADATA in tlvs and not tlvs[TLV_METADATA]:
            raise ValueError("metadata extension is empty")
        if TLV_ARRAY in tlvs:
            decode_array(tlvs[TLV_ARRAY])

    def _fail(self, message, kind="EntryCorrupt", **where):
        where = {
            "record": self.record.number,
            "key": self.record.key,
            "entry": self.number,
            "name": getattr(self, "name", None),
        } | where
        return ShardPackError(
            kind, f"record {self.record.number}, entry {self.number}: {message}", **where
        )

    @property
    def content_type(self):
        return self.stored_type or "application/octet-stream"

    @property
    def is_aux(self):
        return bool(self.flags & AUX)

    @property
    def is_chunked(self):
        return bool(self.flags & CHUNKED)

    @property
    def metadata(self):
        """(format, bytes), or None."""
        value = dict(self.tlvs).get(TLV_METADATA)
        return None if value is None else (value[0], value[1:])

    @property
    def mtime(self):
        value = dict(self.tlvs).get(TLV_MTIME)
        return None if value is None else struct.unpack("<q", value)[0]

    @property
    def mode(self):
        value = dict(self.tlvs).get(TLV_MODE)
        return None if value is None else struct.unpack("<I", value)[0]

    @property
    def array(self):
        """(dtype, shape), or None."""
        value = dict(self.tlvs).get(TLV_ARRAY)
        return None if value is None else decode_array(value)

    @property
    def segment(self):
        """(offset, whole_size) of a file that is cut, or None."""
        value = dict(self.tlvs).get(TLV_SEGMENT)
        return None if value is None else struct.unpack("<QQ", value)

    @property
    def stored(self):
        return self.record.block[self.data_start : self.end]

    def check_understood(self):
        unknown = self.flags & MUST_UNDERSTAND & ~(CHUNKED | AUX)
        if unknown:
            raise self._fail(f"flag bits 0x{unknown:02x} are not known", "UnsupportedFeature")
        for kind, _ in self.tlvs:
            if kind & TLV_CRITICAL and kind not in ENTRY_TLVS:
                raise self._fail(
                    f"critical extension 0x{kind:04x} is not known", "UnsupportedFeature"
                )
        if self.codec not in CODEC_NAMES:
            raise self._fail(f"codec {self.codec} is not known", "UnsupportedCodec")

    def check_limits(self, limits):
        if self.raw_size > limits.raw_size:
            raise self._fail(
                f"{self.raw_size} bytes, at most {limits.raw_size} allowed", "LimitExceeded"
            )
        if self.raw_size > limits.ratio * self.stored_size:
            raise self._fail(
                f"{self.stored_size} bytes grow to {self.raw_size}, at most {limits.ratio} times"
                " is allowed",
                "LimitExceeded",
            )

    def check_stored(self):
        """CRCs of what is stored, for any codec."""
        if self.is_chunked:
            for _ in self._chunks():
                pass
        else:
            self._check_crc(self.stored, self.data_crc32c, "data")

    def read(self, limits=Limits()):
        """The content, decompressed and checked, or ShardPackError."""
        self.check_understood()
        self.check_limits(limits)
        if not self.is_chunked:
            self._check_crc(self.stored, self.data_crc32c, "data")
            return self._decode(self.stored, self.codec, self.raw_size, "data")
        return b"".join(
            self._decode(
                stored, NONE if flags & CHUNK_IS_RAW else self.codec, size, f"chunk {number}"
            )
            for number, (stored, size, flags) in enumerate(self._chunks())
        )

    def _decode(self, stored, codec, raw_size, what):
        try:
            return decompress(codec, stored, raw_size, self.record.dictionaries)
        except CodecError as error:
            raise self._fail(f"{what}: {error}") from None

    def _check_crc(self, data, expected, what):
        found = crc32c(data)
        if found != expected:
            raise self._fail(
                f"{what} CRC32C is {found:08x}, expected {expected:08x}",
                expected=expected,
                found=found,
            )

    def _chunks(self):
        """(stored bytes, raw size, flags) of each chunk, CRC checked."""
        content = self.stored
        if len(content) < CHUNK_TABLE_HEADER.size:
            raise self._fail(f"chunk table does not fit {len(content)} bytes")
        chunk_size, count, reserved = CHUNK_TABLE_HEADER.unpack_from(content)
        end = CHUNK_TABLE_HEADER.size + CHUNK_ROW.size * count
        if end > len(content):
            raise self._fail(f"table of {count} chunks does not fit {len(content)} bytes")
        self._check_crc(content[:end], self.data_crc32c, "chunk table")
        if not 1 << 16 <= chunk_size <= 1 << 30 or chunk_size & (chunk_size - 1):
            raise self._fail(f"chunk size {chunk_size} is not a power of two from 2^16 to 2^30")
        if count != -(-self.raw_size // chunk_size):
            raise self._fail(f"{count} chunks of {chunk_size} for {self.raw_size} bytes")
        if reserved:
            self.warnings.append("reserved field of the chunk table is not zero")
        begin = end
        for number in range(count):
            end, crc, flags = CHUNK_ROW.unpack_from(content, 16 + 16 * number)
            if not begin <= end <= len(content):
                raise self._fail(f"chunk {number} ends at {end}, not in {begin}..{len(content)}")
            self._check_crc(content[begin:end], crc, f"chunk {number}")
            if flags & ~CHUNK_IS_RAW:
                self.warnings.append(f"reserved flags of chunk {number} are not zero")
            yield content[begin:end], min(chunk_size, self.raw_size - chunk_size * number), flags
            begin = end
        if begin != len(content):
            raise self._fail(f"{len(content) - begin} bytes after the last chunk")


class Record:
    """One record block. Its own head has been checked; damage of an entry is kept in `error`.

    block: all bytes of it. align_log2: of the shard, or None to take the record's word.
    dictionaries: id -> a function that gives the bytes of a zstd dictionary.
    """

    def __init__(self, block, number, offset, align_log2=None, dictionaries=None, limits=Limits()):
        self.block, self.number, self.offset = memoryview(block), number, offset
        self.dictionaries = {} if dictionaries is None else dictionaries
        self.key = None
        self.warnings = []
        self.head_end = self._parse_head(align_log2)
        check_head_limits(self, limits)
        self._check_understood()
        self.entries, self.error = [], None
        try:
            self._parse_entries()
        except ShardPackError as error:
            self.error = error

    def _fail(self, message, kind="RecordCorrupt", **where):
        where = {"record": self.number, "offset": self.offset, "key": self.key} | where
        return ShardPackError(kind, f"record {self.number} at {self.offset}: {message}", **where)

    def _parse_head(self, align_log2):
        if len(self.block) < SMALLEST_RECORD:
            raise self._fail(f"{len(self.block)} bytes, a record has at least {SMALLEST_RECORD}")
        (
            self.size,
            magic,
            version,
            self.align_log2,
            self.flags,
            self.meta_format,
            meta_size,
            key_size,
            extension_size,
            head_crc,
            self.entry_count,
        ) = RECORD_HEADER.unpack_from(self.block)
        if magic != RECORD_MAGIC:
            raise self._fail(f"magic is {magic.hex()}, expected {RECORD_MAGIC.hex()}")
        end = 32 + key_size + extension_size + meta_size
        if end > len(self.block):
            raise self._fail(f"head ends at {end}, past the record of {len(self.block)} bytes")
        found = crc32c(self.block[:24], self.block[28:end])
        if found != head_crc:
            raise self._fail(f"head CRC32C is {found:08x}, expected {head_crc:08x}")
        if not is_sane_size(self.size):
            raise self._fail(f"impossible record size {self.size}")
        if self.size != len(self.block):
            raise self._fail(
                f"record size {self.size}, by the index it is {len(self.block)}", "IndexCorrupt"
            )
        if version != 1:
            raise self._fail(f"record version {version} is not known", "UnsupportedVersion")
        if align_log2 is not None and self.align_log2 != align_log2:
            raise self._fail(f"alignment 2^{self.align_log2}, that of the shard is 2^{align_log2}")
        if not 3 <= self.align_log2 <= 12:
            raise self._fail(f"alignment 2^{self.align_log2}, expected 2^3 to 2^12")
        self.align = 1 << self.align_log2
        if self.size % self.align:
            raise self._fail(f"size {self.size} is not a multiple of {self.align}")
        if key_size == 0:
            raise self._fail("has no key")
        self.key = _text(self.block[32 : 32 + key_size], "key", self._fail)
        try:
            self.tlvs = decode_tlvs(self.block[32 + key_size : 32 + key_size + extension_size])
        except ValueError as error:
            raise self._fail(str(error)) from None
        self.metadata = bytes(self.block[end - meta_size : end])
        if self.meta_format == META_NONE and meta_size:
            raise self._fail(f"{meta_size} bytes of metadata in format none")
        self._check_flags()
        return end

    def _check_flags(self):
        if bool(self.flags & TOMBSTONE) != (self.entry_count == 0):
            raise self._fail(f"{self.entry_count} entries with flags 0x{self.flags:02x}")
        if self.entry_count * SMALLEST_ENTRY > self.size:
            raise self._fail(f"{self.entry_count} entries do not fit {self.size} bytes")
        part = dict(self.tlvs).get(TLV_RECORD_PART)
        self.part = None
        if self.flags & PART:
            if part is None or len(part) != 8:
                raise self._fail("flag PART without a part extension of 8 bytes")
            self.part = struct.unpack("<II", part)
            if self.part[0] >= self.part[1]:
                raise self._fail(f"part {self.part[0]} of {self.part[1]}")
        elif part is not None:
            self.warnings.append("part extension without flag PART")

    def _check_understood(self):
        unknown = self.flags & MUST_UNDERSTAND & ~(TOMBSTONE | PART)
        if unknown:
            raise self._fail(f"flag bits 0x{unknown:02x} are not known", "UnsupportedFeature")
        for kind, _ in self.tlvs:
            if kind & TLV_CRITICAL and kind not in RECORD_TLVS:
                raise self._fail(
                    f"critical extension 0x{kind:04x} is not known", "UnsupportedFeature"
                )

    def _parse_entries(self):
        start = up(self.head_end, 8)
        self._check_padding(self.head_end, start)
        end = self.head_end
        for number in range(self.entry_count):
            entry = Entry(self, number, start)
            self.entries.append(entry)
            end = entry.end
            start = up(end, 8)
            self._check_padding(end, start)
        if up(end, self.align) != self.size:
            raise self._fail(
                f"entries end at {end}, which makes {up(end, self.align)}, not {self.size}"
            )
        self._check_padding(start, self.size)

    def _check_padding(self, begin, end):
        if any(self.block[begin:end]):
            self.warnings.append(f"padding in {begin}..{end} is not zero")

    @property
    def is_tombstone(self):
        return bool(self.flags & TOMBSTONE)

    def file_entries(self):
        """Those that users see, or the error that hides some."""
        if self.error is not None:
            raise self.error
        return [entry for entry in self.entries if not entry.is_aux]

    def __getitem__(self, name):
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(name)


def looks_like_record(head):
    """Whether the first 16 bytes may start a record: the magic is there and the size is sane."""
    if len(head) < 16 or bytes(head[8:12]) != RECORD_MAGIC:
        return False
    return is_sane_size(int.from_bytes(head[:8], "little"))


def is_sane_size(size):
    return SMALLEST_RECORD <= size < 1 << 63 and size % 8 == 0


def check_head_limits(record, limits):
    """LimitExceeded for what a record's head asks for, before it is allocated."""
    if record.entry_count > limits.entries:
        raise record._fail(
            f"{record.entry_count} entries, at most {limits.entries} allowed", "LimitExceeded"
        )
    if len(record.metadata) > limits.metadata:
        raise record._fail(
            f"{len(record.metadata)} bytes of metadata, at most {limits.metadata} allowed",
            "LimitExceeded",
        )


def is_safe_name(name):
    return not name.startswith("/") and ".." not in name.split("/") and "\0" not in name
