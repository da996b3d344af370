"""One name for the number of threads."""

from __future__ import annotations


def jobs_of(jobs: int, threads: int | None) -> int:
    """`jobs`, unless it was given by its older name."""
    return jobs if threads is None else threads
