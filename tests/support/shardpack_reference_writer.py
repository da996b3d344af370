"""ShardPack v1, written a second time from its document: the writer."""

import dataclasses
import json
import struct

from shardpack_reference_bytes import (
    DICTIONARY_TYPE,
    FEATURE_DICTIONARIES,
    FOOTER_SIZE,
    META_JSON,
    NONE,
    PART,
    SECTION_REQUIRED,
    TOMBSTONE,
    compress,
    crc32c,
    dictionary_id,
    part_tlv,
    up,
)
from shardpack_reference_encode import EntrySpec, RecordSpec, encode_record
from shardpack_reference_record import Record
from shardpack_reference_tail import (
    Footer,
    Section,
    encode_keys,
    encode_keyx,
    encode_zdic,
    make_entx,
    make_stat,
)


@dataclasses.dataclass
class SectionSpec:
    """How one section is stored, or a whole one of a private kind."""

    tag: str
    codec: int = NONE
    required: bool = False
    body: bytes | None = None  # made by the writer where None
    format: int = 0


def dictionary_entry(dictionary, codec=NONE):
    """The AUX entry that belongs into record 0."""
    name = f".zstd-dictionary/{dictionary_id(dictionary):08x}"
    return EntrySpec(name, dictionary, DICTIONARY_TYPE, codec=codec, aux=True)


def compact_json(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Writer:
    """Collects a shard in memory.

    align_log2: 3 to 12. sections: tags or SectionSpecs, in the order on disk.
    meta: the object of section META.
    """

    def __init__(self, align_log2=3, sections=("KEYX", "STAT", "META"), meta=None):
        if not 3 <= align_log2 <= 12:
            raise ValueError(f"alignment 2^{align_log2}, expected 2^3 to 2^12")
        self.align_log2 = align_log2
        self.sections = [SectionSpec(s) if isinstance(s, str) else s for s in sections]
        self.meta = {"shardpack": {"version": "1.0"}} if meta is None else meta
        self.blocks, self.offsets, self.size = [], [], 0

    def add(self, spec):
        """Writes a record; gives its offset."""
        block, _ = encode_record(spec, self.align_log2)
        offset = self.size
        self.offsets.append(offset)
        self.blocks.append(block)
        self.size += len(block)
        return offset

    def add_tombstone(self, key, **options):
        return self.add(RecordSpec(key, [], flags=TOMBSTONE, **options))

    def add_parts(self, key, groups, **options):
        """A sample in parts: `groups` are lists of entries. Metadata goes with the first."""
        for index, entries in enumerate(groups):
            tlvs = (part_tlv(index, len(groups)),)
            spec = RecordSpec(
                key, entries, flags=PART, tlvs=tlvs, **(options if index == 0 else {})
            )
            self.add(spec)

    def finish(self, minor=0, features_optional=0):
        """All bytes of the shard. `minor` and `features_optional` go into the footer."""
        records = [
            Record(block, number, offset)
            for number, (block, offset) in enumerate(zip(self.blocks, self.offsets))
        ]
        index = struct.pack(f"<Q{len(self.offsets)}Q", len(self.offsets), *self.offsets)
        tail = bytearray(index)
        rows = []
        for spec in self.sections:
            raw = self._body(spec, records) if spec.body is None else spec.body
            body = compress(spec.codec, raw)
            rows.append(
                Section(
                    tag=spec.tag,
                    flags=SECTION_REQUIRED if spec.required else 0,
                    codec=spec.codec,
                    format=META_JSON if spec.tag == "META" else spec.format,
                    offset=self.size + len(tail),
                    stored_size=len(body),
                    raw_size=len(raw),
                    crc32c=crc32c(body),
                )
            )
            tail += body + bytes(up(len(body), 8) - len(body))
        directory = b"".join(row.encode() for row in rows)
        footer = Footer(
            index_offset=self.size,
            record_count=len(self.offsets),
            file_size=self.size + len(tail) + len(directory) + FOOTER_SIZE,
            directory_size=len(directory),
            index_crc32c=crc32c(index),
            directory_crc32c=crc32c(directory),
            align_log2=self.align_log2,
            minor=minor,
            features_optional=features_optional
            | (FEATURE_DICTIONARIES if self._dictionaries(records) else 0),
        )
        return b"".join(self.blocks) + bytes(tail) + directory + footer.encode()

    @staticmethod
    def _dictionaries(records):
        """(id, offset, length) of each dictionary."""
        return [
            (dictionary_id(entry.read()), records[0].offset + entry.start, entry.end - entry.start)
            for entry in (records[0].entries if records else ())
            if entry.is_aux and entry.stored_type == DICTIONARY_TYPE
        ]

    def _body(self, spec, records):
        keys = [record.key.encode() for record in records]
        if spec.tag == "META":
            return compact_json(self.meta)
        if spec.tag == "STAT":
            return make_stat(records).encode()
        if spec.tag == "KEYS":
            return encode_keys(keys)
        if spec.tag == "KEYX":
            return encode_keyx(keys)
        if spec.tag == "ENTX":
            return make_entx(records).encode()
        if spec.tag == "ZDIC":
            return encode_zdic(self._dictionaries(records))
        raise ValueError(f"no section {spec.tag}")
