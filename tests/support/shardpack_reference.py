"""ShardPack v1, written a second time from its document: the readers.

Shard reads a whole file through its index, Stream one from front to back without seeking. The
other parts are in shardpack_reference_*.py.
"""

import dataclasses
import struct
import types

from shardpack_reference_bytes import (
    DIRECTORY_ENTRY_SIZE,
    DICTIONARY_TYPE,
    FOOTER_MAGIC,
    FOOTER_SIZE,
    RECORD_MAGIC,
    SMALLEST_RECORD,
    Limits,
    ShardPackError,
    crc32c,
    dictionary_id,
    xxh64,
)
from shardpack_reference_record import (
    RECORD_HEADER,
    Entry,
    Record,
    looks_like_record,
)
from shardpack_reference_tail import (
    KNOWN_TAGS,
    BodyError,
    EntryIndex,
    Footer,
    Section,
    Stat,
    decode_keys,
    decode_keyx,
    decode_meta,
    decode_zdic,
)


class Shard:
    """A shard through its index. `data`: all bytes of the file. Opening checks footer and index.

    sections: by tag, as the directory lists them. warnings: what of the tail is unavailable.
    """

    def __init__(self, data, limits=Limits()):
        self.data, self.limits = bytes(data), limits
        self.warnings = []
        self.footer = self._read_footer()
        self.footer.check(len(self.data))
        self.align_log2 = self.footer.align_log2
        self.offsets = self._read_index()
        self.sections = self._read_directory()
        self._dictionaries = None

    def _read_footer(self):
        if len(self.data) >= FOOTER_SIZE and self.data.endswith(FOOTER_MAGIC):
            return Footer.decode(self.data[-FOOTER_SIZE:])
        if looks_like_record(self.data[:16]):
            raise ShardPackError("Incomplete", "no index; run repair, or read sequentially")
        raise ShardPackError(
            "NotShardPack", "neither a record at its start nor a footer at its end"
        )

    def _read_index(self):
        start, count = self.footer.index_offset, self.footer.record_count
        index = self.data[start : start + 8 * (1 + count)]
        found = crc32c(index)
        if found != self.footer.index_crc32c:
            raise ShardPackError(
                "IndexCorrupt",
                f"index CRC32C is {found:08x}, expected {self.footer.index_crc32c:08x}",
            )
        counted, *offsets = struct.unpack(f"<{1 + count}Q", index)
        if counted != count:
            raise ShardPackError("IndexCorrupt", f"index of {counted} records, footer of {count}")
        if offsets and offsets[0] != 0:
            raise ShardPackError("IndexCorrupt", f"first record at {offsets[0]}, expected 0")
        for number, (begin, end) in enumerate(zip(offsets, [*offsets[1:], start])):
            if end < begin + SMALLEST_RECORD or (end - begin) % (1 << self.align_log2):
                raise ShardPackError(
                    "IndexCorrupt", f"record {number} is {begin}..{end}", record=number
                )
        return offsets

    def _read_directory(self):
        directory = self.data[self.footer.directory_offset : -FOOTER_SIZE]
        if crc32c(directory) != self.footer.directory_crc32c:
            self.warnings.append("directory CRC32C is wrong: no section is available")
            return {}
        sections = {}
        for at in range(0, len(directory), DIRECTORY_ENTRY_SIZE):
            section = Section.decode(directory[at : at + DIRECTORY_ENTRY_SIZE])
            if section.is_required:
                self._check_required(section)
            if section.tag in sections:
                self.warnings.append(f"section {section.tag} is there twice")
            sections.setdefault(section.tag, section)
        return sections

    def _check_required(self, section):
        if section.tag not in KNOWN_TAGS:
            raise ShardPackError(
                "UnsupportedFeature", f"required section {section.tag} is not known"
            )
        section.body(self.data, self.footer, self.limits)

    def section(self, tag, decode=lambda body: body):
        """The decoded section, None if there is none, or ShardPackError."""
        section = self.sections.get(tag)
        if section is None:
            return None
        body = section.body(self.data, self.footer, self.limits)
        try:
            return decode(body)
        except BodyError as error:
            raise section.damage(str(error)) from None

    @property
    def meta(self):
        return self.section("META", decode_meta)

    @property
    def stat(self):
        return self.section("STAT", Stat.decode)

    @property
    def keys(self):
        return self.section("KEYS", lambda body: decode_keys(body, len(self)))

    @property
    def keyx(self):
        return self.section("KEYX", lambda body: decode_keyx(body, len(self)))

    @property
    def entx(self):
        return self.section("ENTX", lambda body: EntryIndex.decode(body, len(self)))

    @property
    def zdic(self):
        return self.section("ZDIC", decode_zdic)

    def __len__(self):
        return len(self.offsets)

    def __getitem__(self, number):
        begin = self.offsets[number]
        following = [*self.offsets[1:], self.footer.index_offset]
        return Record(
            self.data[begin : following[number]],
            number,
            begin,
            self.align_log2,
            self.dictionaries,
            self.limits,
        )

    def __iter__(self):
        return (self[number] for number in range(len(self)))

    def find(self, key):
        """The first record with that key by KEYX, or None."""
        wanted = xxh64(key.encode())
        for hashed, number in self.keyx:
            if hashed == wanted and self[number].key == key:
                return self[number]
        return None

    def entry_at(self, offset, number=0):
        """An entry alone, from the absolute offset of its header as ENTX and ZDIC have it."""
        # Offsets of records are multiples of the alignment, so absolute ones do as well.
        whole = types.SimpleNamespace(
            block=memoryview(self.data)[: self.footer.index_offset],
            number=None,
            key=None,
            align=1 << self.align_log2,
            dictionaries=self.dictionaries,
        )
        return Entry(whole, number, offset)

    @property
    def dictionaries(self):
        """id -> a function that gives the dictionary."""
        if self._dictionaries is None:
            self._dictionaries = {}
            for id, offset, _ in self._available_zdic():
                self._dictionaries[id] = lambda offset=offset: self.entry_at(offset).read(
                    self.limits
                )
        return self._dictionaries

    def _available_zdic(self):
        try:
            return self.zdic or []
        except ShardPackError as error:
            self.warnings.append(error.message)
            return []


@dataclasses.dataclass
class Verdict:
    """What a stream turned out to be: `kind` is Complete or the name of what is wrong."""

    kind: str
    records: int
    message: str = ""


class Stream:
    """A shard from front to back. Iterate it for the records; then `verdict` says how it ended.

    file: anything with read(). Memory is that of one record. errors: of records that are whole but
    not understood; they are passed over.
    """

    def __init__(self, file, limits=Limits()):
        self.file, self.limits = file, limits
        self.verdict = None
        self.positions, self.position = [], 0
        self.align_log2 = None
        self.dictionaries = {}
        self.errors = []

    def _read(self, size):
        parts, missing = [], size
        while missing and (part := self.file.read(min(missing, 1 << 20))):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def __iter__(self):
        while self.verdict is None:
            start = self._read(16)
            try:
                if looks_like_record(start):
                    record = self._record(start)
                    if record is not None:
                        yield record
                elif len(start) < 16:
                    is_other = not self.positions and not RECORD_MAGIC.startswith(start[8:12])
                    raise ShardPackError(
                        "NotShardPack" if is_other else "Incomplete",
                        f"{len(start)} bytes where a record or index starts",
                    )
                elif start[8:12] == RECORD_MAGIC:
                    raise ShardPackError("RecordCorrupt", f"at {self.position}: impossible size")
                else:
                    self._tail(start)
                    self.verdict = Verdict("Complete", len(self.positions))
            except ShardPackError as error:
                self.verdict = Verdict(error.kind, len(self.positions), error.message)

    def _record(self, start):
        """The record, or None for one that is not understood."""
        number, offset = len(self.positions), self.position
        block = self._read_block(start, f"record {number} at {offset}")
        self.positions.append(offset)
        self.position += len(block)
        try:
            record = Record(block, number, offset, self.align_log2, self.dictionaries, self.limits)
        except ShardPackError as error:
            if error.kind in ("UnsupportedFeature", "UnsupportedVersion", "LimitExceeded"):
                self.errors.append(error)
                return None
            self.positions.pop()
            raise
        self.align_log2 = record.align_log2
        if number == 0:
            for entry in record.entries:
                if entry.is_aux and entry.stored_type == DICTIONARY_TYPE:
                    self._add_dictionary(entry)
        return record

    def _read_block(self, start, what):
        """All of a record. Its size is believed only once the head's CRC is right."""
        size = int.from_bytes(start[:8], "little")
        head = start + self._read(16)
        if len(head) == 32:
            *_, meta_size, key_size, extension_size, expected, _ = RECORD_HEADER.unpack(head)
            head_size = 32 + key_size + extension_size + meta_size
            if head_size > size:
                raise ShardPackError(
                    "RecordCorrupt", f"{what}: head of {head_size} in {size} bytes"
                )
            head += self._read(head_size - 32)
            found = crc32c(head[:24], head[28:])
            if len(head) == head_size and found != expected:
                raise ShardPackError(
                    "RecordCorrupt", f"{what}: head CRC32C is {found:08x}, expected {expected:08x}"
                )
        block = head + self._read(size - len(head))
        if len(block) < size:
            raise ShardPackError("Incomplete", f"{what} has {size} bytes, {len(block)} are there")
        return block

    def _add_dictionary(self, entry):
        try:
            dictionary = entry.read(self.limits)
        except ShardPackError:
            return  # Entries that need it say so.
        self.dictionaries[dictionary_id(dictionary)] = lambda: dictionary

    def _tail(self, start):
        seen = len(self.positions)
        if int.from_bytes(start[:8], "little") != seen:
            if seen == 0:
                raise ShardPackError("NotShardPack", "starts with neither a record nor an index")
            raise ShardPackError(
                "RecordCorrupt", f"at {self.position}: neither a record nor the index"
            )
        expected = struct.pack(f"<{1 + seen}Q", seen, *self.positions)
        index = (start + self._read(max(0, len(expected) - 16)))[: len(expected)]
        if len(index) < len(expected):
            raise ShardPackError(
                "Incomplete", f"{len(index)} of {len(expected)} bytes of the index"
            )
        if index != expected:
            raise ShardPackError(
                "IndexCorrupt", "offsets of the index are not those of the records"
            )
        last, total, ended = self._read_rest(start[len(expected) :], len(expected))
        if not last.endswith(FOOTER_MAGIC):
            if ended is not None:
                raise ShardPackError("TrailingData", f"{total - ended} bytes after the footer")
            if seen == 0:
                raise ShardPackError("NotShardPack", "no record and no footer")
            raise ShardPackError("Incomplete", "no footer at the end")
        footer = Footer.decode(last)
        if (footer.index_offset, footer.record_count, footer.index_crc32c) != (
            self.position,
            seen,
            crc32c(index),
        ):
            if total > footer.file_size:
                raise ShardPackError(
                    "TrailingData", f"{total} bytes, the last footer is of {footer.file_size}"
                )
            raise ShardPackError("IndexCorrupt", "the footer is not of this index")
        footer.check(total)
        if self.align_log2 not in (None, footer.align_log2):
            raise ShardPackError(
                "IndexCorrupt", f"records of 2^{self.align_log2}, footer of 2^{footer.align_log2}"
            )

    def _read_rest(self, buffered, index_size):
        """The last 64 bytes, the size of all, and where a footer of this shard ended."""
        window, ended = buffered, None
        total = self.position + max(index_size, 16) if buffered else self.position + index_size
        while piece := self.file.read(1 << 16):
            window += piece
            total += len(piece)
            at = window.find(FOOTER_MAGIC)
            while at >= 0:
                end = at + len(FOOTER_MAGIC)
                if end >= FOOTER_SIZE and self._is_footer(
                    window[end - FOOTER_SIZE : end], total - len(window) + end
                ):
                    ended = total - len(window) + end
                at = window.find(FOOTER_MAGIC, end)
            window = window[-FOOTER_SIZE:]
        return window[-FOOTER_SIZE:], total, ended

    def _is_footer(self, data, end):
        try:
            footer = Footer.decode(data)
        except ShardPackError:
            return False
        return (footer.index_offset, footer.file_size) == (self.position, end)
