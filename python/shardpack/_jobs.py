"""What all writing takes: the number of threads, and how shards are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_SHARD_OPTIONS = (
    "compression", "level", "align", "metadata", "name", "shard_size", "shard_records",
    "record_size_limit", "oversize", "dictionary", "key_index", "keys", "entry_index", "chunk_size",
    "chunk_threshold", "compress_all", "reproducible", "force", "memory", "jobs",
)  # fmt: skip


def jobs_of(jobs: int, threads: int | None) -> int:
    """`jobs`, unless it was given by its older name."""
    return jobs if threads is None else threads


def shard_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How shards are written, as the engine takes it, of the arguments of a function (locals()).
    None means no wish."""
    options = {name: arguments[name] for name in _SHARD_OPTIONS if name in arguments}
    if options.get("metadata") is not None:
        options["metadata"] = json.dumps(dict(options["metadata"]))
    return options


def named_shard_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The same of keyword arguments: TypeError for one that is none of them."""
    for name in options:
        if name not in _SHARD_OPTIONS or name in ("memory", "jobs"):
            raise TypeError(f"unexpected keyword argument {name!r}")
    return shard_options(options)
