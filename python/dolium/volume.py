"""Bulk work on volumes: ingest, downsample, transcode.

    dolium.volume.ingest("stack.tif", "em", resolution=(4, 4, 40))
    dolium.volume.transcode("em", "em-jpeg", encoding="jpeg", quality=90)

Each is a plan of independent tasks, as a rule one for each shard. The functions above run theirs
on threads; plan_ingest(), plan_downsample() and plan_transcode() give them to you, for any
executor:

    plan = dolium.volume.plan_downsample("em")
    with concurrent.futures.ProcessPoolExecutor() as executor:
        plan.run(executor)
    plan.run(client.get_executor())          # or a dask.distributed.Client

Tasks are text. Whatever is killed and asked for again resumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._indexing import vector
from ._plans import DEFAULT_MEMORY, Plan
from ._progress import Progress
from ._reports import VolumeReport, WriteSummary
from ._volume import Volume, VolumeArray
from ._volume_arguments import (
    Coordinates,
    Encoding,
    Path,
    Sharding,
    Spec,
    VolumeType,
    either,
    export_options,
    type_name,
    nanometres,
    storage_options,
)

__all__ = [
    "Plan",
    "Volume",
    "VolumeArray",
    "VolumeReport",
    "downsample",
    "drop_scale",
    "ingest",
    "plan_downsample",
    "plan_ingest",
    "plan_transcode",
    "run_task",
    "transcode",
]

Method: TypeAlias = Literal["average", "mode", "stride"]


def run_task(task: str, *, memory: int = DEFAULT_MEMORY, jobs: int = 1) -> WriteSummary:
    """Does one task of a plan, in any process that sees the same locations. Doing it twice does
    no harm. ConflictError if its source is no longer what the plan was made for."""
    return _core.run_task(task, memory=memory, jobs=jobs).written


def plan_ingest(
    source: Path,
    target: Path,
    *,
    type: VolumeType | None = None,
    resolution: Sequence[float] = (1, 1, 1),
    offset: Sequence[int] = (0, 0, 0),
    axes: str | None = None,
    dataset: str | None = None,
    to_dtype: npt.DTypeLike | None = None,
    data_type: npt.DTypeLike | None = None,
    shape: Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    skip: int | None = None,
    c_order: bool = False,
    order: Literal["F", "C"] = "F",
    byte_offset: int | None = None,
    chunk_size: Sequence[int] | None = None,
    encoding: Encoding | None = None,
    block_size: Sequence[int] | None = None,
    quality: int | None = None,
    png_level: int | None = None,
    level: int | None = None,
    effort: int | None = None,
    sharded: bool | None = None,
    shard_size: int | None = None,
    to_spec: Sharding | None = None,
    sharding: Sharding | None = None,
    gzip_files: bool = False,
    scales: int | None = None,
    factor: Sequence[int] | None = None,
    method: Method | None = None,
    ignore_zero: bool = False,
    force: bool = False,
) -> Plan:
    """Plans a volume made from a file, or from a folder of slices.

    `source` is a .npy, TIFF or HDF5 file (`dataset`), a folder of TIFF, PNG or JPEG slices, or a
    raw file, which needs `shape` and `dtype`, and may be in `c_order` and begin after `skip` bytes
    (`order` and `byte_offset` are older names of these). `axes` says what the dimensions of NumPy, raw and HDF5 arrays are: "xyzc" unless you say, for example,
    "zyx". `to_dtype` is the volume's, if it is not the file's (`data_type` is its older name). An
    array in memory needs no plan: use Volume.from_array().

    Storage is as for Volume.create(), but `shard_size` is about what a shard takes as stored, by
    a sample of chunks. Coarser scales are made until one is a single chunk, or
    there are as many as `scales` says, the full one counted: 1 makes no other. `factor`, `method`
    and `ignore_zero` are as for plan_downsample(). `force` replaces a volume that is there once
    the new one is complete.
    """
    to_dtype = data_type if to_dtype is None else to_dtype
    skip = either("skip", skip, "byte_offset", byte_offset)
    if isinstance(source, np.ndarray):
        raise TypeError("an array in memory: use Volume.from_array()")
    if order not in ("F", "C"):
        raise ValueError(f"order: found {order!r}, expected 'F' or 'C'")
    if shape is None:
        given = {
            "dtype": dtype is not None,
            "skip": skip is not None,
            "c_order": c_order or order != "F",
        }
        for name, is_given in given.items():
            if is_given:
                raise ValueError(f"{name}: describes raw files, together with shape and dtype")
    elif dtype is None:
        raise ValueError("shape: a raw file needs its dtype, too")
    if scales is not None and scales < 1:
        raise ValueError(f"scales: found {scales}, expected 1 or more")
    number = None if dtype is None else np.dtype(dtype)
    array = {
        "path": source,
        "dataset": dataset,
        "axes": axes,
        "data_type": None if to_dtype is None else type_name(to_dtype),
        "shape": None if shape is None else [int(side) for side in shape],
        "dtype": None if number is None else type_name(number),
        "byte_offset": skip,
        "big_endian": number is not None and number.byteorder == ">",
        "c_order": c_order or order == "C",
    }
    return _core.plan_volume_ingest(
        array,
        target,
        type,
        nanometres(resolution),
        vector("offset", offset),
        storage_options(locals()),
        _pyramid_options(None if scales is None else scales - 1, factor, method, ignore_zero),
        force,
    )


def plan_downsample(
    volume: Path | Volume,
    *,
    from_scale: int | None = None,
    scales: int | None = None,
    factor: Sequence[int] | None = None,
    method: Method | None = None,
    ignore_zero: bool = False,
    chunk_size: Sequence[int] | None = None,
    encoding: Encoding | None = None,
    block_size: Sequence[int] | None = None,
    quality: int | None = None,
    png_level: int | None = None,
    level: int | None = None,
    effort: int | None = None,
    sharded: bool | None = None,
    shard_size: int | None = None,
    to_spec: Sharding | None = None,
    sharding: Sharding | None = None,
    gzip_files: bool | None = None,
    rebuild: bool = False,
    skip_damaged: bool = False,
    force: bool = False,
) -> Plan:
    """Plans coarser scales for a volume, which they are added to.

    They are made from `from_scale`, the coarsest by default, each from the one before, until one
    is a single chunk, or the volume has `scales` in all; those that it has are passed over, so
    that the same call again adds nothing. `factor` is that from scale to scale; by
    default 2 where voxels are shortest, so that they become isotropic. `method` is "average",
    "mode" (the most frequent label; with `ignore_zero`, zeros lose against any) or "stride": mode
    for segmentations, else average. Storage is as in the scale they are made from, unless you
    choose; `shard_size` and `to_spec` choose shards, `gzip_files` none.

    With `rebuild`, after a change of the voxels, no scale is added: those listed after
    `from_scale` (0) are made again, stored as they are, by `method`, which is not known from
    before. They take the place of the old ones when all are complete.

    With `skip_damaged`, chunks that are damaged count as zeros, and the report's `skipped` lists
    them. `force` drops what another request began and did not finish.
    """
    location = _location(volume)
    if rebuild:
        for name, value in {**storage_options(locals()), "scales": scales, "factor": factor}.items():
            if value is not None:
                raise ValueError(f"{name}: contradicts rebuild, which leaves the scales as they are")
    return _core.plan_volume_downsample(
        location,
        from_scale,
        storage_options(locals()),
        _pyramid_options(scales, factor, method, ignore_zero),
        rebuild,
        skip_damaged,
        force,
    )


def plan_transcode(
    source: Path | Volume,
    target: Path,
    *,
    scales: Iterable[int] | None = None,
    chunk_size: Sequence[int] | None = None,
    encoding: Encoding | None = None,
    block_size: Sequence[int] | None = None,
    quality: int | None = None,
    png_level: int | None = None,
    level: int | None = None,
    effort: int | None = None,
    sharded: bool | None = None,
    shard_size: int | None = None,
    to_spec: Sharding | None = None,
    sharding: Sharding | None = None,
    gzip_files: bool | None = None,
    force: bool = False,
    supervoxels: bool = False,
    spec: Spec | None = None,
    resolution: Sequence[float] | None = None,
    coordinates: Coordinates = "auto",
    skip_damaged: bool = False,
    salvage: bool = False,
) -> Plan:
    """Plans a copy of a volume, or of some of its `scales`, stored in another way. Storage is as
    in the source, unless you choose (`shard_size` and `to_spec` choose shards, `gzip_files`
    none; `shard_size` is about what a shard takes as stored, by a sample of chunks); chunks about
    which nothing changes are copied without being decoded. Mesh, skeletons and segment properties
    are copied file by file; a warning names those that cannot be. `force` replaces a volume that
    is there once the new one is complete. With `skip_damaged`, chunks that are damaged are left
    out, and the report's `skipped` lists them. The last six are for DVID exports, as in
    Volume.open()."""
    return _core.plan_volume_transcode(
        _location(source),
        target,
        [] if scales is None else list(scales),
        storage_options(locals()),
        force,
        export_options(locals()),
    )


def ingest(
    source: Path,
    target: Path,
    *,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> VolumeReport:
    """Makes a volume from a file, or from a folder of slices, on threads. The other options are
    those of plan_ingest(), the first three those of Plan.run()."""
    plan = plan_ingest(source, target, **options)
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def downsample(
    volume: Path | Volume,
    *,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> VolumeReport:
    """Adds coarser scales to a volume, on threads. The other options are those of
    plan_downsample(), the first three those of Plan.run()."""
    plan = plan_downsample(volume, **options)
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def transcode(
    source: Path | Volume,
    target: Path,
    *,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> VolumeReport:
    """Copies a volume, stored in another way, on threads. The other options are those of
    plan_transcode(), the first three those of Plan.run()."""
    plan = plan_transcode(source, target, **options)
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def drop_scale(
    volume: Path | Volume, *scales: int | Sequence[float], force: bool = False
) -> list[str]:
    """Drops scales of a volume, from its info first, then their data; returns their keys. A scale
    is named by its number, as it is before any is dropped, or by its resolution. Scale 0 stays
    unless `force`, and one scale always. Killed at any point, the same call completes it. Volumes
    that are open keep the scales that they know; what was dropped is gone, and reads as zero."""
    numbers: list[int] = []
    resolutions: list[tuple[float, float, float]] = []
    for scale in scales:
        if isinstance(scale, (int, np.integer)):
            if scale < 0:
                raise ValueError(f"no scale {scale}")
            numbers.append(int(scale))
        else:
            resolutions.append(nanometres(scale))
    return _core.drop_volume_scales(_location(volume), numbers, resolutions, force)


def _location(volume: Path | Volume) -> Path:
    return volume.location if isinstance(volume, Volume) else volume


def _pyramid_options(
    scales: int | None, factor: Sequence[int] | None, method: str | None, ignore_zero: bool
) -> dict[str, Any]:
    return {
        "scales": scales,
        "factor": None if factor is None else vector("factor", factor),
        "method": method,
        "ignore_zero": ignore_zero,
    }
