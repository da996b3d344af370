"""What calls report: plain data, comparable, and safe to send between processes."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """Where an entry lies and what it takes."""

    key: int | str
    size: int | None  # decoded bytes, where the index knows
    stored_size: int
    object: str | None  # the object that holds it, as a person would type it
    offset: int | None  # of its stored bytes in the object
    preceding: int  # unindexed bytes right before it that belong to it


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be, or not as it usually is."""

    severity: str  # "error" or "warning"
    kind: str  # a word for programs: "overlap", "bounds", "gzip", ...
    object: str
    key: str  # empty: not about one entry
    range: tuple[int, int] | None  # [begin, end) in the object
    message: str


@dataclasses.dataclass(frozen=True, slots=True)
class VerifyReport:
    """What every verify() gives. True if there is no error."""

    objects: int
    entries: int  # in the index
    entries_read: int  # whose payload was read
    bytes_read: int
    bytes_decoded: int
    errors: int
    warnings: int
    findings: list[Finding]
    records: int | None = None  # samples of a ShardPack shard
    unreadable: int = 0  # those of the errors that are of the way to the data

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings are legal oddities."""
        return self.errors == 0

    def __bool__(self) -> bool:
        return self.ok

    @property
    def size(self) -> int:
        """An older name of `bytes_read`."""
        return self.bytes_read


@dataclasses.dataclass(frozen=True, slots=True)
class Distribution:
    count: int
    sum: int
    min: int
    max: int
    mean: float
    median: int  # an upper bound, within a factor of two


@dataclasses.dataclass(frozen=True, slots=True)
class StatsReport:
    objects: int
    object_bytes: int
    preceding_bytes: int
    overhead_bytes: int  # neither payload nor bytes that precede it: indexes and gaps
    stored_size: Distribution  # of entries
    entries_per_object: Distribution
    damaged: int  # parts of the index that could not be read


@dataclasses.dataclass(frozen=True, slots=True)
class WriteSummary:
    entries: int
    value_bytes: int  # as given
    stored_bytes: int  # of all objects written
    objects: int


@dataclasses.dataclass(frozen=True, slots=True)
class TaskReport:
    written: WriteSummary
    skipped: list[Finding]  # damaged entries that were left out


@dataclasses.dataclass(frozen=True, slots=True)
class JobReport:
    """What bulk work has done."""

    written: WriteSummary  # by all runs; entries of volumes are chunks
    parts: int
    parts_done_before: int  # by an earlier run
    skipped: list[Finding]  # damaged entries that were left out
    target: str = ""  # location of the result

    @property
    def volume(self) -> str:
        """The same as `target`."""
        return self.target


# Earlier names.
ConvertReport = JobReport
VolumeReport = JobReport
