"""Making skeletons: dolium.skeleton.make(), its plan, and skeletonize() for arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._plans import Plan
from ._progress import Progress
from ._reports import JobReport
from ._volume import Volume
from ._volume_arguments import Coordinates, Path, Spec, export_options, nanometres, type_name

DEFAULT_MEMORY = 2 << 30


class CenterLines(NamedTuple):
    """The centre lines of a label: positions in nanometres, those of the middles of voxels, pairs
    of vertices, and for each vertex the distance to the boundary and, where it was asked for, the
    area of the object across the line."""

    vertices: npt.NDArray[np.float32]
    edges: npt.NDArray[np.uint32]
    radii: npt.NDArray[np.float32]
    cross_sectional_areas: npt.NDArray[np.float32] | None = None

    def cable_length(self) -> float:
        """The length of all edges."""
        steps = self.vertices[self.edges[:, 0]] - self.vertices[self.edges[:, 1]]
        return float(np.linalg.norm(steps.astype(np.float64), axis=1).sum())


def plan_make(
    volume: Path | Volume,
    target: Path | None = None,
    *,
    scale: int | None = None,
    cover: float = 1.5,
    cover_length: float = 300,
    cross_sections: bool = False,
    segments: Iterable[int] | None = None,
    min_voxels: int = 1000,
    dust: float = 1000,
    tick: float = 900,
    sharded: bool = False,
    force: bool = False,
    memory: int = DEFAULT_MEMORY,
    supervoxels: bool = False,
    spec: Spec | None = None,
    resolution: Sequence[float] | None = None,
    coordinates: Coordinates = "auto",
    skip_damaged: bool = False,
) -> Plan:
    """Plans the skeletons of all labels but 0, or of `segments`, by the TEASAR method.

    Without a target they become those of the volume: they go to the folder that its info names as
    `skeletons`, or to a new one of this name, which is added to the info.

    `scale` is the finest whose voxels are nearly as long in all directions, unless you name one.
    A path makes voxels within `cover` times the radius, plus `cover_length` nanometres, need no
    other. `cross_sections` measures areas across the lines. Labels of fewer than `min_voxels` have
    no skeleton; trees shorter than `dust` nanometres are left out, and ends of branches shorter
    than `tick` are cut. `sharded` writes shards, else there is a file for each skeleton. `force`
    replaces skeletons that are there. Blocks are as large as `memory` allows.

    The last five say how a DVID export is read.
    """
    options: dict[str, Any] = {
        "scale": scale,
        "cover": cover,
        "cover_length": cover_length,
        "cross_sections": cross_sections,
        "segments": None if segments is None else [int(segment) for segment in segments],
        "min_voxels": min_voxels,
        "dust": dust,
        "tick": tick,
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
    return _core.plan_skeleton_make(location, target, options, exported, memory)


def make(
    volume: Path | Volume,
    target: Path | None = None,
    *,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> JobReport:
    """Makes skeletons, on threads that share `memory` bytes. The other options are those of
    plan_make(), the first three those of Plan.run()."""
    plan = plan_make(volume, target, memory=memory, **options)
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def skeletonize(
    labels: npt.NDArray[Any],
    *,
    resolution: Sequence[float] = (1, 1, 1),
    cover: float = 1.5,
    cover_length: float = 300,
    penalty_scale: float = 100_000,
    penalty_exponent: float = 4,
    soma_detection: float = 1100,
    soma_acceptance: float = 3500,
    soma_cover: float = 2,
    soma_cover_length: float = 300,
    cross_sections: bool = False,
    segments: Iterable[int] | None = None,
    min_voxels: int = 1000,
    dust: float = 0,
    tick: float = 0,
    jobs: int = 0,
) -> dict[int, CenterLines]:
    """The centre lines of all labels but 0, or of `segments`, of an array in x, y and z.

    As make(), in memory and in one block. Connected parts of fewer than `min_voxels` have none.
    The penalty of a voxel is penalty_scale * (1 - distance / largest distance) **
    penalty_exponent, with distances to the boundary. In an object with a radius of more than
    `soma_detection` holes are filled; if it is more than `soma_acceptance` then, the object is a
    cell body, whose middle makes voxels within `soma_cover` times the radius, plus
    `soma_cover_length`, need no path.
    """
    labels = np.asarray(labels)
    if labels.ndim != 3:
        raise ValueError(f"labels: found {labels.ndim} dimensions, expected x, y and z")
    options = {
        "cover": cover,
        "cover_length": cover_length,
        "penalty_scale": penalty_scale,
        "penalty_exponent": penalty_exponent,
        "soma_detection": soma_detection,
        "soma_acceptance": soma_acceptance,
        "soma_cover": soma_cover,
        "soma_cover_length": soma_cover_length,
        "cross_sections": cross_sections,
        "segments": None if segments is None else [int(segment) for segment in segments],
        "min_voxels": min_voxels,
        "dust": dust,
        "tick": tick,
    }
    made = _core.skeletons_of_array(
        labels[..., np.newaxis],
        labels.shape,
        type_name(labels.dtype),
        nanometres(resolution),
        options,
        jobs,
    )
    return {
        label: CenterLines(
            np.frombuffer(vertices, np.float32).reshape(-1, 3),
            np.frombuffer(edges, np.uint32).reshape(-1, 2),
            *(np.frombuffer(attribute, np.float32) for attribute in attributes),
        )
        for label, vertices, edges, attributes in made
    }
