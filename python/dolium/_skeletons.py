"""Skeletons of a folder or of a volume: reading and writing. See dolium.skeleton."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._cache import AnyCache
from ._objects import DEFAULT_MEMORY, Ids, Path, indices, items_of, points
from ._progress import Progress, shown
from ._reports import WriteSummary

__all__ = ["Skeleton", "Skeletons", "open", "parse_swc", "write"]


class Skeleton:
    """`vertices`, float32 (n, 3); `edges`, uint32 (m, 2); `attributes`, arrays by name with a row
    for each vertex."""

    __slots__ = ("attributes", "edges", "id", "vertices")

    def __init__(
        self,
        vertices: npt.ArrayLike,
        edges: npt.ArrayLike,
        attributes: Mapping[str, npt.ArrayLike] | None = None,
        id: int | None = None,
    ) -> None:
        self.vertices = points(vertices, "vertices")
        self.edges = indices(edges, 2, len(self.vertices), "edges")
        self.attributes = {name: np.asarray(array) for name, array in (attributes or {}).items()}
        self.id = id

    def __repr__(self) -> str:
        return f"<Skeleton {self.id}: {len(self.vertices)} vertices, {len(self.edges)} edges>"

    def to_swc(self) -> str:
        """The skeleton as SWC: a root for each tree, with `radius` and `vertex_types`."""
        described = [describe(name, array) for name, array in self.attributes.items()]
        contents = [
            row_bytes(name, array, len(self.vertices), described[i])
            for i, (name, array) in enumerate(self.attributes.items())
        ]
        return _core.swc_text(self.vertices, self.edges, described, contents)


class Skeletons:
    """The skeletons of a folder, as a mapping from ids to Skeleton. Made by open()."""

    __slots__ = ("_folder", "_names")

    def __init__(self, folder: _core.SkeletonFolder) -> None:
        self._folder = folder
        self._names = [name for name, _, _ in folder.attributes]

    @property
    def location(self) -> str:
        """The folder of the skeletons."""
        return self._folder.location

    @property
    def is_sharded(self) -> bool:
        return self._folder.is_sharded

    @property
    def info(self) -> dict[str, Any]:
        return json.loads(self._folder.info_text)

    def ids(self) -> npt.NDArray[np.uint64]:
        """The ids of all skeletons, ascending."""
        return self._folder.ids()

    def get(
        self, ids: Ids, *, stored_units: bool = False, jobs: int = 0
    ) -> list[Skeleton | None]:
        """Many skeletons at once, in the order of `ids`; None for what is not there. Positions
        are in nanometres, or as they are stored."""
        wanted = [int(id) for id in ids]
        found = self._folder.get(wanted, stored_units, jobs)
        return [
            None if one is None else self._made(id, one)
            for id, one in zip(wanted, found, strict=True)
        ]

    def _made(self, id: int, parts: tuple[Any, Any, list[Any]]) -> Skeleton:
        skeleton = Skeleton.__new__(Skeleton)
        skeleton.vertices, skeleton.edges, values = parts
        skeleton.attributes = dict(zip(self._names, values, strict=True))
        skeleton.id = id
        return skeleton

    def __getitem__(self, id: int) -> Skeleton:
        skeleton = self.get([id], jobs=1)[0]
        if skeleton is None:
            raise KeyError(id)
        return skeleton

    def __contains__(self, id: int) -> bool:
        return self.get([id], jobs=1)[0] is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids().tolist())

    def __len__(self) -> int:
        return len(self.ids())

    def __repr__(self) -> str:
        return f"<Skeletons {self.location}>"

    def export(
        self,
        target: Path,
        ids: Ids | None = None,
        *,
        force: bool = False,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Writes files `ID.swc` into a folder, of all skeletons or of some. Those that are not
        there or damaged are listed in the result, and the others are written."""
        wanted = self.ids() if ids is None else [int(id) for id in ids]
        with shown(progress, "export") as call:
            return _core.export_skeletons(
                self._folder, wanted, target, force, jobs, call
            )


def open(location: Path, *, cache: AnyCache | None = None) -> Skeletons:
    """Opens the skeletons of a folder, or those that the info of a volume names.
    FileNotFoundError if there are none."""
    return Skeletons(_core.SkeletonFolder(location, cache))


def describe(name: str, array: npt.NDArray[Any]) -> tuple[str, str, int]:
    """An attribute as the info of a folder lists it: name, type, and numbers for a vertex."""
    if array.ndim not in (1, 2):
        raise ValueError(f"{name}: found an array of shape {array.shape}, expected one row a vertex")
    dtype = np.dtype(np.float32) if array.dtype == np.float64 else array.dtype
    return name, str(dtype.newbyteorder("=")), 1 if array.ndim == 1 else array.shape[1]


def row_bytes(
    name: str, array: npt.NDArray[Any], count: int, described: tuple[str, str, int]
) -> bytes:
    if len(array) != count:
        raise ValueError(f"{name}: found {len(array)} rows, there are {count} vertices")
    if describe(name, array) != described:
        raise ValueError(f"{name}: found {describe(name, array)[1:]}, expected {described[1:]}")
    return np.ascontiguousarray(array, dtype=np.dtype(described[1]).newbyteorder("<")).tobytes()


def write(
    location: Path,
    skeletons: Mapping[int, Any] | Iterable[tuple[int, Any]],
    *,
    storage: Literal["unsharded", "sharded"] = "unsharded",
    keep_types: bool = False,
    transform: Iterable[float] | None = None,
    register: bool = False,
    force: bool = False,
    jobs: int = 0,
    memory: int = DEFAULT_MEMORY,
    progress: Progress | None = None,
) -> WriteSummary:
    """Makes a folder of skeletons, of a mapping from ids, or of pairs of id and skeleton as they
    come.

    A skeleton is a Skeleton, or vertices, edges and, if there are any, attributes by name; all
    have the attributes of the first. Those become float32, which is all that clients of today
    show, unless `keep_types` is true. `transform` is 12 numbers, from the units of the positions
    to nanometres. The folder appears when it is complete; `force` replaces one that is there.
    With `register`, the info of the volume that it lies in names it.
    """
    pairs, count = items_of(skeletons)

    def parts(skeleton: Any) -> tuple[Any, Any, dict[str, Any]]:
        if hasattr(skeleton, "vertices"):
            vertices, edges = skeleton.vertices, skeleton.edges
            attributes = skeleton.attributes if isinstance(skeleton.attributes, Mapping) else {}
        else:
            vertices, edges, *rest = skeleton
            attributes = rest[0] if rest else {}
        return vertices, edges, {name: np.asarray(array) for name, array in attributes.items()}

    first = next(pairs, None)
    described: list[tuple[str, str, int]] = []
    if first is not None:
        described = [describe(name, array) for name, array in parts(first[1])[2].items()]

    def rows() -> Iterator[tuple[int, Any, Any, list[bytes]]]:
        pending = first
        while pending is not None:
            id, skeleton = pending
            vertices, edges, attributes = parts(skeleton)
            checked = points(vertices, f"skeleton {id}: vertices")
            if set(attributes) != {name for name, _, _ in described}:
                raise ValueError(f"skeleton {id}: has other attributes than the first")
            contents = [
                row_bytes(one[0], attributes[one[0]], len(checked), one) for one in described
            ]
            yield (
                int(id),
                checked,
                indices(edges, 2, len(checked), f"skeleton {id}: edges"),
                contents,
            )
            pending = next(pairs, None)

    with shown(progress, "write") as call:
        return _core.write_skeletons(
            location,
            rows(),
            described,
            storage,
            keep_types,
            None if transform is None else list(transform),
            count,
            0,
            register,
            force,
            jobs,
            memory,
            call,
        )


def parse_swc(text: str) -> Skeleton:
    """The skeleton that is in an SWC file, with `radius` and `vertex_types`. CorruptError if it is
    none."""
    skeleton = Skeleton.__new__(Skeleton)
    skeleton.vertices, skeleton.edges, (radius, types) = _core.parse_swc(text)
    skeleton.attributes = {"radius": radius, "vertex_types": types}
    skeleton.id = None
    return skeleton
