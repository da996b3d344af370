"""Verify and repair."""

from __future__ import annotations

import dataclasses
import os

from dolium import _core


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be."""

    severity: str
    kind: str
    object: str
    key: str
    range: tuple[int, int] | None
    message: str


@dataclasses.dataclass(frozen=True)
class VerifyReport:
    """What `verify` found. True if there is no error."""

    records: int
    entries: int
    size: int
    findings: list[Finding]

    def __bool__(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


@dataclasses.dataclass(frozen=True)
class RepairReport:
    """What `repair` could save."""

    records: int
    records_lost: int
    bytes_skipped: int
    findings: list[Finding]


def verify(
    path: str | os.PathLike[str], *, contents: bool = True, threads: int = 0
) -> VerifyReport:
    """Checks every byte of a shard, and what its tail says of the records."""
    records, entries, size, findings = _core.pack_verify(path, contents, threads)
    return VerifyReport(records, entries, size, [Finding(**finding) for finding in findings])


def repair(
    path: str | os.PathLike[str], output: str | os.PathLike[str], *, force: bool = False
) -> RepairReport:
    """Writes a good shard of what can be read of a damaged or unfinished one."""
    records, lost, skipped, findings = _core.pack_repair(path, output, force)
    return RepairReport(records, lost, skipped, [Finding(**finding) for finding in findings])
