"""Verify and repair."""

from __future__ import annotations

import dataclasses
import os

from dolium import _core
from dolium._reports import Finding, VerifyReport

from ._jobs import jobs_of


@dataclasses.dataclass(frozen=True)
class RepairReport:
    """What `repair` could save."""

    records: int
    records_lost: int
    bytes_skipped: int
    findings: list[Finding]


def verify(
    path: str | os.PathLike[str],
    *,
    quick: bool = False,
    deep: bool = False,
    jobs: int = 0,
    contents: bool | None = None,
    threads: int | None = None,
) -> VerifyReport:
    """Checks every byte of a shard, and what its tail says of the records; with `quick`, decodes no
    contents; `deep` does nothing more to one shard: dolium.verify() of a set compares its catalog.
    (`contents=False` and `threads` are older names of `quick` and `jobs`.)"""
    if quick and deep:
        raise ValueError("quick contradicts deep")
    decodes = not quick if contents is None else contents
    return _core.pack_verify(path, decodes, jobs_of(jobs, threads))


def repair(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    quick: bool = False,
    force: bool = False,
) -> RepairReport:
    """Writes a good shard of what can be read of a damaged or unfinished one; of one that is not
    there, of what a killed writer left. With `quick`, contents are taken as they are, unchecked."""
    records, lost, skipped, findings = _core.pack_repair(path, output, quick, force)
    return RepairReport(records, lost, skipped, findings)
