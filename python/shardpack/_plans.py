"""Bulk work on training sets, as plans: dolium.Plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from dolium import _core
from dolium._plans import Plan

from ._jobs import named_shard_options

Path: TypeAlias = str | os.PathLike[str]
# A set: one reference, or several that are joined.
Source: TypeAlias = Path | Sequence[Path]
Kind: TypeAlias = Literal["folder", "webdataset", "tfrecord", "mds", "jsonl", "lmdb"]


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
    from_: Kind | None = None,
    kind: Kind | None = None,
    keep_times: bool = False,
    keep_case: bool = False,
    records: Literal["auto", "raw", "example"] = "auto",
    database: str = "",
    key_prefix: str = "",
    skip_damaged: bool = False,
    **options: Any,
) -> Plan:
    """Plans shards made of what another format holds, `from_` names it: `pack import`. (`kind` is
    its older name.) A stream, as plan_create() is; the other options are those of Writer. With `skip_damaged`, samples that are damaged are
    left out, and listed in `skipped` of the report."""
    imported = kind if from_ is None else from_
    if imported is None or (from_ is not None and kind is not None):
        raise TypeError("plan_import: give from_, the kind of what is imported")
    reading = {
        "keep_times": keep_times,
        "keep_case": keep_case,
        "records": records,
        "database": database,
        "key_prefix": key_prefix,
        "skip_damaged": skip_damaged,
    }
    writing = named_shard_options(options)
    return _core.plan_pack_create(imported, input, output, reading, writing)


def plan_reshard(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """Plans the samples of a set in other shards: so many, of `shard_size` bytes, or of
    `shard_records` samples; else in one. The other options are those of Writer; without
    `compression`, records are copied as they are."""
    return _copy(source, "set", {}, output, shards, options)


def plan_split(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """The same, where one of `shards`, `shard_size` and `shard_records` must be given."""
    limits = (shards, options.get("shard_size"), options.get("shard_records"))
    if not any(limits):
        raise ValueError("plan_split: give shards, shard_size or shard_records")
    return _copy(source, "set", {}, output, shards, options)


def plan_merge(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """The same for several sets, one after another, in one shard unless a limit is given."""
    return _copy(source, "set", {}, output, shards, options)


def plan_subset(
    source: Source,
    output: Path,
    *,
    prefix: str = "",
    keys: Iterable[str] | None = None,
    ignore_missing: bool = False,
    range: tuple[int, int | None] = (0, None),
    every: int = 1,
    sample: int | float | None = None,
    seed: int = 0,
    shards: int = 0,
    **options: Any,
) -> Plan:
    """The same for a part of a set: samples whose keys begin with `prefix`, that are among `keys`
    (KeyError for one that is not there, unless `ignore_missing`), of the numbers `range`: all that
    is given must be true. Of those left, every `every`-th; of these, `sample` of them at random, a
    number or, as a float, a part, the same for the same `seed`."""
    begin, end = range
    selection = {
        "prefix": prefix,
        "keys": None if keys is None else list(keys),
        "ignore_missing": ignore_missing,
        "begin": begin,
        "end": end,
        "every": every,
        "sample": sample,
        "seed": seed,
    }
    return _copy(source, "set", selection, output, shards, options)


def plan_compact(
    source: Source,
    output: Path,
    *,
    overlay: Source = (),
    shards: int = 0,
    **options: Any,
) -> Plan:
    """The same for a set with what the sets of `overlay` change, later ones over earlier ones, as
    shardpack.overlay() shows it."""
    return _copy(source, "set", {}, output, shards, options, _references(overlay))


def plan_sort(source: Source, output: Path, *, shards: int = 0, **options: Any) -> Plan:
    """The same, with the samples in the order of their keys."""
    return _copy(source, "key", {}, output, shards, options)


def plan_shuffle(
    source: Source, output: Path, *, seed: int = 0, shards: int = 0, **options: Any
) -> Plan:
    """The same, with the samples in an order that looks random and depends on the seed alone."""
    return _copy(source, "random", {"seed": seed}, output, shards, options)


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
    source: Source,
    order: str,
    selection: dict[str, Any],
    output: Path,
    shards: int,
    options: dict[str, Any],
    overlays: Sequence[str] = (),
) -> Plan:
    writing = named_shard_options(options)
    references = _references(source)
    return _core.plan_pack_copy(references, order, selection, output, shards, writing, overlays)
