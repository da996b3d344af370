"""ShardPack v1, written a second time from its document: writing records and their entries."""

import dataclasses
import struct

from shardpack_reference_bytes import (
    AUX,
    CHUNK_IS_RAW,
    CHUNKED,
    META_NONE,
    NONE,
    RECORD_MAGIC,
    TOMBSTONE,
    compress,
    crc32c,
    encode_tlvs,
    up,
)
from shardpack_reference_record import CHUNK_ROW, CHUNK_TABLE_HEADER, is_safe_name


@dataclasses.dataclass
class EntrySpec:
    """What to write; nothing is guessed."""

    name: str
    data: bytes
    content_type: str = ""
    codec: int = NONE
    level: int | None = None
    dictionary: bytes | None = None
    chunk_raw_size: int | None = None  # chunked if set
    tlvs: tuple = ()
    aux: bool = False
    only_if_smaller: bool = True  # else codec 0; for a chunk, stored as it is


@dataclasses.dataclass
class RecordSpec:
    key: str
    entries: list
    meta_format: int = META_NONE
    metadata: bytes = b""
    flags: int = 0
    tlvs: tuple = ()


def encode_content(spec):
    """(codec, flags, content as stored, bytes that data_crc32c covers)."""
    flags = AUX if spec.aux else 0
    if spec.chunk_raw_size is not None:
        content, table = _encode_chunks(spec)
        return spec.codec, flags | CHUNKED, content, table
    codec, content = spec.codec, compress(spec.codec, spec.data, spec.level, spec.dictionary)
    if spec.only_if_smaller and len(content) >= len(spec.data):
        codec, content = NONE, bytes(spec.data)
    return codec, flags, content, content


def _encode_chunks(spec):
    size = spec.chunk_raw_size
    raw = [spec.data[at : at + size] for at in range(0, len(spec.data), size)]
    table = [CHUNK_TABLE_HEADER.pack(size, len(raw), 0)]
    end = CHUNK_TABLE_HEADER.size + CHUNK_ROW.size * len(raw)
    chunks = []
    for chunk in raw:
        stored = compress(spec.codec, chunk, spec.level, spec.dictionary)
        flags = 0
        if spec.codec != NONE and spec.only_if_smaller and len(stored) >= len(chunk):
            stored, flags = chunk, CHUNK_IS_RAW
        end += len(stored)
        table.append(CHUNK_ROW.pack(end, crc32c(stored), flags))
        chunks.append(stored)
    table = b"".join(table)
    return table + b"".join(chunks), table


def encode_record(spec, align_log2):
    """(block, [(offset of the entry header in the block, bytes from there to its data's end)])."""
    align = 1 << align_log2
    check_names(spec)
    key, extensions = spec.key.encode(), encode_tlvs(spec.tlvs)
    variable = key + extensions + spec.metadata
    body = bytearray(variable)
    body += bytes(up(32 + len(body), 8) - 32 - len(body))
    places = []
    for entry in spec.entries:
        start = 32 + len(body)
        body += bytes(up(start, 8) - start)
        start = up(start, 8)
        body += encode_entry_head(entry, (head := encode_content(entry)))
        at = 32 + len(body)
        body += bytes(up(at, align) - at) + head[2]
        places.append((start, 32 + len(body) - start))
    size = up(32 + len(body), align)
    body += bytes(size - 32 - len(body))
    first = struct.pack(
        "<Q4sBBBBIHH",
        size,
        RECORD_MAGIC,
        1,
        align_log2,
        spec.flags,
        spec.meta_format,
        len(spec.metadata),
        len(key),
        len(extensions),
    )
    count = struct.pack("<I", len(spec.entries))
    crc = struct.pack("<I", crc32c(first, count, variable))
    return first + crc + count + bytes(body), places


def encode_entry_head(entry, encoded):
    codec, flags, content, covered = encoded
    name, kind, extensions = (
        entry.name.encode(),
        entry.content_type.encode(),
        encode_tlvs(entry.tlvs),
    )
    first = struct.pack(
        "<QQIHHHBB",
        len(content),
        len(entry.data),
        crc32c(covered),
        len(name),
        len(kind),
        len(extensions),
        codec,
        flags,
    )
    variable = name + kind + extensions
    return first + struct.pack("<I", crc32c(first, variable)) + variable


def check_names(spec):
    """What writers refuse, as ValueError."""
    names = [entry.name for entry in spec.entries]
    if len(set(names)) != len(names):
        raise ValueError(f"record {spec.key!r} has an entry name twice")
    if bool(spec.flags & TOMBSTONE) != (not names):
        raise ValueError(f"record {spec.key!r}: a tombstone has no entries, any other record has")
    if (spec.meta_format == META_NONE) != (not spec.metadata):
        raise ValueError(f"record {spec.key!r}: metadata goes with a format")
    for what in (spec.key, *names):
        if not what or "\0" in what or len(what.encode()) > 65535:
            raise ValueError(f"{what!r} is no key or name: 1 to 65535 bytes without NUL are")
    for name in names:
        if not is_safe_name(name):
            raise ValueError(f"{name!r} is no name: it is absolute or has a .. component")
