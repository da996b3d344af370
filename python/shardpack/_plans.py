"""Bulk work on training sets, as plans: dolium.Plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from dolium import _core
from dolium._plans import Plan

from ._jobs import named_shard_options

Path: TypeAlias = str | os.PathLike[str]
# A set: one reference, or several that are joined.
Source: TypeAlias = Path | Sequence[Path]


def plan_create(
    input: Path,
    output: Path,
    *,
    group_by: Literal["auto", "dir", "stem", "manifest"] = "auto",
    manifest: Path | None = None,
    skip_links: bool = False,
    skip_damaged: bool = False,
    keep_times: bool = False,
    **options: Any,
) -> Plan:
    """Plans shards made of the files of a folder: `pack create`. The other options are those of
    Writer. Which shards there will be is known only when all samples have been read: the plan is a
    stream, without tasks, and run() makes them on threads. What is cut short and planned again
    goes on behind the last shard that is complete."""
    reading = {
        "group_by": group_by,
        "manifest": manifest,
        "skip_links": skip_links,
        "skip_damaged": skip_damaged,
        "keep_times": keep_times,
    }
    writing = named_shard_options(options)
    return _core.plan_pack_create("folder", input, output, reading, writing)


def plan_import(
    input: Path,
    output: Path,
    *,
    kind: Literal["folder", "webdataset", "tfrecord", "mds", "jsonl", "lmdb"],
    keep_times: bool = False,
    keep_case: bool = False,
    records: Literal["auto", "raw", "example"] = "auto",
    database: str = "",
    key_prefix: str = "",
    skip_damaged: bool = False,
    **options: Any,
) -> Plan:
    """Plans shards made of what another format holds: `pack import`. A stream, as plan_create()
    is; the other options are those of Writer. With `skip_damaged`, samples that are damaged are
    left out, and listed in `skipped` of the report."""
    reading = {
        "keep_times": keep_times,
        "keep_case": keep_case,
        "records": records,
        "database": database,
        "key_prefix": key_prefix,
        "skip_damaged": skip_damaged,
    }
    writing = named_shard_options(options)
    return _core.plan_pack_create(kind, input, output, reading, writing)


def plan_reshard(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """Plans the samples of a set in other shards: so many, of `shard_size` bytes, or of
    `shard_records` samples; else in one. The other options are those of Writer; without
    `compression`, records are copied as they are."""
    return _copy(source, "set", 0, output, shards, options)


def plan_sort(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """The same, with the samples in the order of their keys."""
    return _copy(source, "key", 0, output, shards, options)


def plan_shuffle(
    source: Source, output: Path, *, seed: int = 0, shards: int = 0, **options: Any
) -> Plan:
    """The same, with the samples in an order that looks random and depends on the seed alone."""
    return _copy(source, "random", seed, output, shards, options)


def plan_export(
    source: Source,
    target: Path,
    *,
    to: Literal["folder", "webdataset", "tfrecord", "mds", "jsonl", "lmdb"],
    shard_size: int = 0,
    shard_records: int = 0,
    gzip: bool = False,
    replace_dots: str = "",
    keys: bool = True,
    manifest: bool = False,
    stem: bool = False,
    force: bool = False,
) -> Plan:
    """Plans the samples of a set as files of a folder, or in another format: `pack extract` and
    `pack export`. `manifest` and `stem` are for folders, whose parts are tasks; all else is a
    stream, without tasks."""
    options = {
        "shard_size": shard_size,
        "shard_records": shard_records,
        "gzip": gzip,
        "replace_dots": replace_dots,
        "keys": keys,
        "manifest": manifest,
        "stem": stem,
        "force": force,
    }
    return _core.plan_pack_export(_references(source), to, target, options)


def _references(source: Source) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    return [os.fspath(reference) for reference in source]


def _copy(
    source: Source, order: str, seed: int, output: Path, shards: int, options: dict[str, Any]
) -> Plan:
    writing = named_shard_options(options)
    return _core.plan_pack_copy(_references(source), order, seed, output, shards, writing)
