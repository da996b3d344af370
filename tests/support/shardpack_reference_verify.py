"""ShardPack v1, written a second time from its document: verify, which looks at every byte."""

import dataclasses
import io

from shardpack_reference import Shard, Stream
from shardpack_reference_bytes import (
    DICTIONARY_TYPE,
    FEATURE_DICTIONARIES,
    META_JSON,
    META_NAMES,
    Limits,
    ShardPackError,
    dictionary_id,
)
from shardpack_reference_record import is_safe_name
from shardpack_reference_tail import (
    STAT_KNOWN_FLAGS,
    decode_keyx,
    encode_keyx,
    make_entx,
    make_stat,
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """severity: error or warning. kind: as in the table of damages, or Padding, Section, Name."""

    severity: str
    kind: str
    message: str


def verify(data, limits=Limits()):
    """Everything that is wrong with a shard, as Findings; none for a good one."""
    findings = []
    try:
        shard = Shard(data, limits)
    except ShardPackError as error:
        findings.append(Finding("error", error.kind, error.message))
        if error.kind not in ("NotShardPack", "UnsupportedVersion", "UnsupportedFeature"):
            _verify_stream(data, limits, findings)
        return findings
    findings += [Finding("warning", "SectionCorrupt", warning) for warning in shard.warnings]
    records = []
    for number in range(len(shard)):
        try:
            records.append(shard[number])
        except ShardPackError as error:
            findings.append(Finding("error", error.kind, error.message))
            continue
        findings += verify_record(records[-1], limits)
    whole = len(records) == len(shard) and not any(record.error for record in records)
    findings += _verify_tail(shard, records if whole else None)
    return findings


def _verify_stream(data, limits, findings):
    stream = Stream(io.BytesIO(data), limits)
    for record in stream:
        findings += verify_record(record, limits)
    findings += [Finding("error", error.kind, error.message) for error in stream.errors]
    if stream.verdict.kind not in ("Complete", findings[0].kind):
        findings.append(Finding("error", stream.verdict.kind, stream.verdict.message))


def verify_record(record, limits):
    findings = [
        Finding("warning", "Padding", f"record {record.number}: {w}") for w in record.warnings
    ]
    if record.meta_format >= len(META_NAMES):
        findings.append(
            Finding("warning", "Metadata", f"record {record.number}: format {record.meta_format}")
        )
    names = set()
    for entry in record.entries:
        where = f"record {record.number}, entry {entry.number}"
        if entry.name in names:
            findings.append(Finding("error", "EntryCorrupt", f"{where}: name {entry.name!r} twice"))
        if not is_safe_name(entry.name):
            findings.append(Finding("warning", "Name", f"{where}: unsafe name {entry.name!r}"))
        names.add(entry.name)
        try:
            entry.check_limits(limits)
            entry.check_stored()
            entry.read(limits)
        except ShardPackError as error:
            findings.append(Finding("error", error.kind, error.message))
        findings += [Finding("warning", "Padding", f"{where}: {w}") for w in set(entry.warnings)]
    if record.error is not None:
        findings.append(Finding("error", record.error.kind, record.error.message))
    return findings


def _verify_tail(shard, records):
    """records: all of them, or None if some could not be read."""
    findings = []

    def complain(kind, message):
        findings.append(Finding("warning", kind, message))

    footer = shard.footer
    if any(footer.reserved):
        complain("Padding", "reserved bytes of the footer are not zero")
    for section in shard.sections.values():
        if section.offset % 8:
            complain(
                "SectionCorrupt", f"section {section.tag} at {section.offset}, not a multiple of 8"
            )
        if section.reserved:
            complain("Padding", f"reserved bytes of section {section.tag} are not zero")
        try:
            section.body(shard.data, footer, shard.limits)
        except ShardPackError as error:
            complain(error.kind, error.message)
    if shard.sections and not any(finding.kind == "SectionCorrupt" for finding in findings):
        for begin, end in _gaps(shard):
            if any(shard.data[begin:end]):
                complain("Padding", f"bytes in {begin}..{end} are not zero")
    for tag, check in _SECTION_CHECKS.items():
        try:
            problem = check(shard, records) if tag in shard.sections else None
        except ShardPackError as error:
            # A body that cannot be had was reported above.
            problem = error.message if error.kind == "SectionCorrupt" else None
        if problem and problem not in [finding.message for finding in findings]:
            complain("SectionCorrupt", problem)
    return findings


def _gaps(shard):
    """What lies between index, sections and directory."""
    at = shard.footer.index_offset + 8 * (1 + len(shard))
    for section in sorted(shard.sections.values(), key=lambda section: section.offset):
        yield at, section.offset
        at = max(at, section.offset + section.stored_size)
    yield at, shard.footer.directory_offset


def _check_meta(shard, _):
    if shard.meta is not None and shard.sections["META"].format != META_JSON:
        return f"META has format {shard.sections['META'].format}"


def _check_stat(shard, records):
    stat = shard.stat
    if stat is None or records is None:
        return None
    # Flags of later versions are theirs.
    known = dataclasses.replace(stat, flags=stat.flags & STAT_KNOWN_FLAGS)
    if known != make_stat(records):
        return f"STAT is {stat}, records give {make_stat(records)}"


def _check_keys(shard, records):
    if shard.keys is not None and records is not None and shard.keys != [r.key for r in records]:
        return "KEYS has other keys than the records"


def _check_keyx(shard, records):
    if shard.keyx is not None and records is not None:
        keys = [record.key.encode() for record in records]
        if shard.keyx != decode_keyx(encode_keyx(keys), len(keys)):
            return "KEYX has other hashes than the keys of the records"


def _check_entx(shard, records):
    if shard.entx is None or records is None:
        return None
    rows = [[(*row[:2], shard.entx.columns[row[2]]) for row in items] for items in shard.entx.rows]
    made = make_entx(records)
    if rows != [[(*row[:2], made.columns[row[2]]) for row in items] for items in made.rows]:
        return "ENTX is not what the records give"


def _check_zdic(shard, records):
    if not shard.footer.features_optional & FEATURE_DICTIONARIES:
        return "ZDIC without the feature bit of dictionaries"
    if not records:
        return None
    there = {
        (record_start + entry.start, entry.end - entry.start)
        for record_start, entry in ((records[0].offset, entry) for entry in records[0].entries)
        if entry.is_aux and entry.stored_type == DICTIONARY_TYPE
    }
    for id, offset, length in shard.zdic or []:
        if (offset, length) not in there:
            return f"ZDIC: no dictionary entry of record 0 at {offset}+{length}"
        if dictionary_id(shard.dictionaries[id]()) != id:
            return f"ZDIC: the dictionary at {offset} has another id than {id}"


_SECTION_CHECKS = {
    "META": _check_meta,
    "STAT": _check_stat,
    "KEYS": _check_keys,
    "KEYX": _check_keyx,
    "ENTX": _check_entx,
    "ZDIC": _check_zdic,
}
