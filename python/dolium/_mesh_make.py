"""Making meshes: dolium.mesh.make() and its plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._indexing import vector
from ._plans import Plan
from ._progress import Progress
from ._reports import JobReport
from ._volume import Volume
from ._volume_arguments import Coordinates, Path, Spec, export_options, nanometres, type_name

DEFAULT_MEMORY = 1 << 30


def plan_make(
    volume: Path | Volume,
    target: Path | None = None,
    *,
    scale: int | None = None,
    lods: int | None = None,
    error: float | None = None,
    segments: Iterable[int] | None = None,
    min_voxels: int = 0,
    open: bool = False,
    bits: int = 16,
    sharded: bool = False,
    force: bool = False,
    supervoxels: bool = False,
    spec: Spec | None = None,
    resolution: Sequence[float] | None = None,
    coordinates: Coordinates = "auto",
    skip_damaged: bool = False,
) -> Plan:
    """Plans multi-resolution meshes of all labels but 0, or of `segments`.

    Without a target they become those of the volume: they go to the folder that its info names as
    `mesh`, or to a new one of this name, which is added to the info.

    `scale` is the finest whose voxels are nearly as long in all directions, unless you name one.
    `error` is how far the finest level may be from surfaces of voxels, in nanometres, as the mean
    distance from the planes that a vertex stands for: the longest side of a voxel, unless you say
    another; 0 simplifies nothing. Each of the `lods` levels of detail that follow has twice as
    much. Labels of fewer than `min_voxels` have no mesh. Surfaces are closed where the data ends,
    or left `open`. Positions have `bits` in a fragment, 10 or 16. `sharded` writes shards, else
    there are two files for each mesh. `force` replaces meshes that are there.

    The last five say how a DVID export is read.
    """
    options: dict[str, Any] = {
        "scale": scale,
        "lods": lods,
        "error": error,
        "segments": None if segments is None else [int(segment) for segment in segments],
        "min_voxels": min_voxels,
        "open": open,
        "bits": bits,
        "sharded": sharded,
        "force": force,
    }
    exported = export_options(
        {
            "supervoxels": supervoxels,
            "spec": spec,
            "resolution": resolution,
            "coordinates": coordinates,
            "salvage": skip_damaged,
        }
    )
    location = volume.location if isinstance(volume, Volume) else volume
    return _core.plan_mesh_make(location, target, options, exported)


def make(
    volume: Path | Volume,
    target: Path | None = None,
    *,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> JobReport:
    """Makes meshes, on threads that share `memory` bytes. The other options are those of
    plan_make(), the first three those of Plan.run()."""
    plan = plan_make(volume, target, **options)
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def from_array(
    labels: npt.NDArray[Any],
    *,
    resolution: Sequence[float] = (1, 1, 1),
    offset: Sequence[int] = (0, 0, 0),
    error: float | None = None,
    open: bool = False,
    jobs: int = 0,
) -> dict[int, tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]]:
    """Surfaces of all labels but 0 of an array in x, y and z: vertices in nanometres, counted from
    the origin of the volume in which the array begins at `offset`, and triangles. They are those
    that make() makes for the finest level; `error` and `open` mean the same."""
    labels = np.asarray(labels)
    if labels.ndim != 3:
        raise ValueError(f"labels: found {labels.ndim} dimensions, expected x, y and z")
    lengths = nanometres(resolution)
    made = _core.meshes_of_array(
        labels[..., np.newaxis],
        labels.shape,
        type_name(labels.dtype),
        lengths,
        vector("offset", offset),
        max(lengths) if error is None else error,
        open,
        jobs,
    )
    return {
        label: (
            np.frombuffer(vertices, np.float32).reshape(-1, 3),
            np.frombuffer(triangles, np.uint32).reshape(-1, 3),
        )
        for label, vertices, triangles in made
    }
