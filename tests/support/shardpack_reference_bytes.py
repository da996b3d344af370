"""ShardPack v1, written a second time from its document: numbers, checksums, codecs, extensions.

Slow and plain on purpose. Nothing here knows of the C++ code, so that the two can judge each other.
"""

import dataclasses
import struct
import zlib

import crc32c as fast_crc32c
import lz4.block
import xxhash
import zstandard

RECORD_MAGIC = b"SPKR"
FOOTER_MAGIC = b"SHARDPK1"
FOOTER_SIZE = 64
DIRECTORY_ENTRY_SIZE = 40
SMALLEST_RECORD = 40

# Flags of records and entries. What MUST_UNDERSTAND covers and we do not know, we refuse.
TOMBSTONE, PART = 1, 2
CHUNKED, AUX = 1, 2
MUST_UNDERSTAND = 0x0F
CHUNK_IS_RAW = 1
SECTION_REQUIRED = 1
FEATURE_DICTIONARIES = 1

NONE, GZIP, LZ4, ZSTD = 0, 1, 2, 3
CODEC_NAMES = {NONE: "none", GZIP: "gzip", LZ4: "lz4", ZSTD: "zstd"}
CODECS = {name: code for code, name in CODEC_NAMES.items()}
LARGEST_LZ4 = 0x7E000000

META_NONE, META_JSON, META_MSGPACK, META_OPAQUE, META_CBOR = range(5)
META_NAMES = ("none", "json", "msgpack", "opaque", "cbor")

TLV_CRITICAL = 0x8000
TLV_RECORD_PART = 0x0001
TLV_METADATA, TLV_MTIME, TLV_MODE, TLV_ARRAY = 0x0001, 0x0002, 0x0003, 0x0004
TLV_SEGMENT = 0x8005
RECORD_TLVS = {TLV_RECORD_PART}
ENTRY_TLVS = {TLV_METADATA, TLV_MTIME, TLV_MODE, TLV_ARRAY, TLV_SEGMENT}

DICTIONARY_TYPE = "application/x-zstd-dictionary"


class ShardPackError(Exception):
    """`kind` is the name in the document's table of damages; the rest says where."""

    def __init__(self, kind, message, **where):
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.where = where


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a reader refuses unless its options say otherwise."""

    raw_size: int = 4 << 30
    ratio: int = 4096
    entries: int = 65536
    metadata: int = 16 << 20
    section: int = 1 << 30


def up(value, multiple):
    return (value + multiple - 1) // multiple * multiple


# --- checksums ------------------------------------------------------------------------------


def _make_crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _make_crc_table()


def crc32c_by_table(*parts):
    """CRC32C of the parts as one stream."""
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in bytes(part):
            crc = (crc >> 8) ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def crc32c(*parts):
    """The same. Long input goes to the package of that name, for its speed."""
    if sum(map(len, parts)) < 256:
        return crc32c_by_table(*parts)
    crc = 0
    for part in parts:
        crc = fast_crc32c.crc32c(bytes(part), crc)
    return crc


def xxh64(data):
    return xxhash.xxh64_intdigest(data, seed=0)


# --- codecs ---------------------------------------------------------------------------------


def compress(codec, data, level=None, dictionary=None):
    """`dictionary`: bytes of a zstd dictionary, or None."""
    if codec == NONE:
        return bytes(data)
    if codec == GZIP:
        deflate = zlib.compressobj(6 if level is None else level, zlib.DEFLATED, -15)
        body = deflate.compress(data) + deflate.flush()
        # No flags, mtime 0, no extra flags, OS 255.
        header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
        return header + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    if codec == LZ4:
        if len(data) > LARGEST_LZ4:
            raise ValueError(f"{len(data)} bytes are too many for one LZ4 block")
        return lz4.block.compress(data, store_size=False)
    if codec == ZSTD:
        options = {"level": 3 if level is None else level, "write_checksum": False}
        if dictionary is not None:
            options["dict_data"] = zstandard.ZstdCompressionDict(dictionary)
        return zstandard.ZstdCompressor(write_content_size=True, **options).compress(data)
    raise ValueError(f"no codec {codec}")


class CodecError(Exception):
    """Stored bytes that do not decode to what the header promises."""


def decompress(codec, stored, raw_size, dictionaries):
    """Exactly `raw_size` bytes, or CodecError. `dictionaries`: id -> a function giving bytes."""
    if codec == NONE:
        raw = bytes(stored)
    elif codec == GZIP:
        raw = _gunzip(stored, raw_size)
    elif codec == LZ4:
        raw = _unlz4(stored, raw_size)
    elif codec == ZSTD:
        raw = _unzstd(stored, raw_size, dictionaries)
    else:
        raise AssertionError(f"codec {codec} must be refused before")
    if len(raw) != raw_size:
        raise CodecError(f"decodes to {len(raw)} bytes, expected {raw_size}")
    return raw


def _gunzip(stored, raw_size):
    member = zlib.decompressobj(31)
    try:
        raw = member.decompress(bytes(stored), raw_size + 1)
        # The end of the stream may need another call once the output is full.
        if not member.eof:
            raw += member.decompress(member.unconsumed_tail, 1)
    except zlib.error as error:
        raise CodecError(f"gzip: {error}") from None
    if not member.eof:
        raise CodecError("gzip: the member does not end where it should")
    if member.unused_data:
        raise CodecError(f"gzip: {len(member.unused_data)} bytes after the one member")
    return raw


def _unlz4(stored, raw_size):
    if raw_size > LARGEST_LZ4:
        raise CodecError(f"lz4: {raw_size} bytes in one block, at most {LARGEST_LZ4} are allowed")
    try:
        return lz4.block.decompress(bytes(stored), uncompressed_size=raw_size)
    except lz4.block.LZ4BlockError as error:
        raise CodecError(f"lz4: {error}") from None


def _unzstd(stored, raw_size, dictionaries):
    stored = bytes(stored)
    if not stored.startswith(b"\x28\xb5\x2f\xfd"):
        raise CodecError("zstd: not a frame")
    try:
        frame = zstandard.get_frame_parameters(stored)
    except zstandard.ZstdError as error:
        raise CodecError(f"zstd: {error}") from None
    if frame.content_size == zstandard.CONTENTSIZE_UNKNOWN:
        raise CodecError("zstd: the frame does not say its content size")
    if frame.content_size != raw_size:
        raise CodecError(f"zstd: the frame says {frame.content_size} bytes, expected {raw_size}")
    dictionary = None
    if frame.dict_id:
        if frame.dict_id not in dictionaries:
            raise CodecError(f"zstd: dictionary {frame.dict_id} is not in this shard")
        dictionary = zstandard.ZstdCompressionDict(dictionaries[frame.dict_id]())
    decoder = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
    try:
        raw = decoder.decompress(stored)
    except zstandard.ZstdError as error:
        raise CodecError(f"zstd: {error}") from None
    if not decoder.eof:
        raise CodecError("zstd: the frame does not end where it should")
    if decoder.unused_data:
        raise CodecError(f"zstd: {len(decoder.unused_data)} bytes after the one frame")
    return raw


def dictionary_id(dictionary):
    return zstandard.ZstdCompressionDict(dictionary).dict_id()


# --- extensions -----------------------------------------------------------------------------


def encode_tlvs(tlvs):
    """From (type, bytes) pairs."""
    return b"".join(struct.pack("<HH", kind, len(value)) + value for kind, value in tlvs)


def decode_tlvs(data):
    """The pairs, or ValueError."""
    tlvs, at = [], 0
    while at < len(data):
        if len(data) - at < 4:
            raise ValueError(f"{len(data) - at} bytes after the last extension")
        kind, size = struct.unpack_from("<HH", data, at)
        at += 4
        if size > len(data) - at:
            raise ValueError(f"extension 0x{kind:04x} has {size} bytes, {len(data) - at} are left")
        tlvs.append((kind, bytes(data[at : at + size])))
        at += size
    kinds = [kind for kind, _ in tlvs]
    if len(set(kinds)) != len(kinds):
        raise ValueError("an extension is there twice")
    return tlvs


def part_tlv(index, count):
    return TLV_RECORD_PART, struct.pack("<II", index, count)


def metadata_tlv(meta_format, value):
    return TLV_METADATA, bytes([meta_format]) + value


def mtime_tlv(nanoseconds):
    return TLV_MTIME, struct.pack("<q", nanoseconds)


def mode_tlv(mode):
    return TLV_MODE, struct.pack("<I", mode)


def array_tlv(dtype, shape):
    dtype = dtype.encode()
    return TLV_ARRAY, bytes([len(dtype)]) + dtype + struct.pack(
        f"<B{len(shape)}Q", len(shape), *shape
    )


def decode_array(value):
    """(dtype, shape), or ValueError."""
    if not value or len(value) < 2 + value[0]:
        raise ValueError("array extension is too short")
    dtype = value[1 : 1 + value[0]].decode("ascii")
    ndim, shape = value[1 + value[0]], value[2 + value[0] :]
    if len(shape) != 8 * ndim:
        raise ValueError(f"array extension has {len(shape)} bytes of shape for {ndim} dimensions")
    return dtype, struct.unpack(f"<{ndim}Q", shape)
