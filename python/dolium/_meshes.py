"""Meshes of a folder or of a volume: reading and writing. See dolium.mesh."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._cache import AnyCache
from ._objects import DEFAULT_MEMORY, Ids, Path, Storage, indices, items_of, points
from ._progress import Progress, shown
from ._reports import WriteSummary

__all__ = ["Mesh", "Meshes", "open", "read_file", "write"]

FileKind: TypeAlias = Literal["ply", "obj", "stl", "glb"]


class Mesh:
    """Triangles: `vertices`, float32 of shape (n, 3), and `faces`, uint32 of shape (m, 3)."""

    __slots__ = ("faces", "id", "vertices")

    def __init__(
        self, vertices: npt.ArrayLike, faces: npt.ArrayLike, id: int | None = None
    ) -> None:
        self.vertices = points(vertices, "vertices")
        self.faces = indices(faces, 3, len(self.vertices), "faces")
        self.id = id

    @classmethod
    def _of(cls, vertices: Any, faces: Any, id: int) -> Mesh:
        mesh = cls.__new__(cls)
        mesh.vertices, mesh.faces, mesh.id = vertices, faces, id
        return mesh

    def __repr__(self) -> str:
        return f"<Mesh {self.id}: {len(self.vertices)} vertices, {len(self.faces)} faces>"

    def to_trimesh(self) -> Any:
        """The same as a trimesh.Trimesh; ImportError if trimesh is not installed."""
        trimesh = importlib.import_module("trimesh")
        return trimesh.Trimesh(self.vertices, self.faces.astype(np.int64), process=False)

    def to_bytes(self, kind: FileKind = "ply") -> bytes:
        """The mesh as a file."""
        return _core.mesh_file(self.vertices, self.faces, kind)


class Meshes:
    """The meshes of a folder, as a mapping from ids to Mesh. Made by open()."""

    __slots__ = ("_folder",)

    def __init__(self, folder: _core.MeshFolder) -> None:
        self._folder = folder

    @property
    def location(self) -> str:
        """The folder of the meshes."""
        return self._folder.location

    @property
    def is_sharded(self) -> bool:
        return self._folder.is_sharded

    @property
    def is_legacy(self) -> bool:
        return self._folder.info_text is None

    @property
    def info(self) -> dict[str, Any]:
        """The info of multi-resolution meshes; empty for legacy ones."""
        text = self._folder.info_text
        return {} if text is None else json.loads(text)

    def ids(self) -> npt.NDArray[np.uint64]:
        """The ids of all meshes, ascending."""
        return self._folder.ids()

    def levels(self, id: int) -> int:
        """How many levels of detail a mesh has. KeyError if it is not there."""
        levels = self._folder.levels(id)
        if levels is None:
            raise KeyError(id)
        return levels

    def get(
        self,
        ids: Ids,
        *,
        lod: int = 0,
        stored_units: bool = False,
        weld: bool = True,
        jobs: int = 0,
    ) -> list[Mesh | None]:
        """Many meshes at once, in the order of `ids`; None for what is not there.

        `lod` is the level of detail: 0 is the finest, -1 the coarsest. Positions are in
        nanometres, or as they are stored. Fragments are joined at their borders, unless `weld` is
        false. `jobs` is the number of threads, one for each core by default.
        """
        wanted = [int(id) for id in ids]
        found = self._folder.get(wanted, lod, stored_units, weld, jobs)
        return [
            None if one is None else Mesh._of(*one, id)
            for id, one in zip(wanted, found, strict=True)
        ]

    def __getitem__(self, id: int) -> Mesh:
        mesh = self.get([id], jobs=1)[0]
        if mesh is None:
            raise KeyError(id)
        return mesh

    def __contains__(self, id: int) -> bool:
        return self._folder.levels(id) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids().tolist())

    def __len__(self) -> int:
        return len(self.ids())

    def __repr__(self) -> str:
        return f"<Meshes {self.location}>"

    def export(
        self,
        target: Path,
        ids: Ids | None = None,
        *,
        to: FileKind = "ply",
        lod: int = 0,
        force: bool = False,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Writes files `ID.ply` into a folder, of all meshes or of some. Those that are not there
        or damaged are listed in the result, and the others are written."""
        wanted = self.ids() if ids is None else [int(id) for id in ids]
        with shown(progress, "export") as call:
            return _core.export_meshes(
                self._folder, wanted, target, to, lod, force, jobs, call
            )


def open(location: Path, *, cache: AnyCache | None = None) -> Meshes:
    """Opens the meshes of a folder, or those that the info of a volume names. FileNotFoundError
    if there are none."""
    return Meshes(_core.MeshFolder(location, cache))


def write(
    location: Path,
    meshes: Mapping[int, Any] | Iterable[tuple[int, Any]],
    *,
    storage: Storage = "unsharded",
    bits: int = 16,
    transform: Iterable[float] | None = None,
    register: bool = False,
    force: bool = False,
    jobs: int = 0,
    memory: int = DEFAULT_MEMORY,
    progress: Progress | None = None,
) -> WriteSummary:
    """Makes a folder of meshes, of a mapping from ids, or of pairs of id and mesh as they come.

    A mesh is a Mesh, a pair of vertices and faces, or anything with `vertices` and `faces`. It
    becomes a multi-resolution mesh of one level, in files or shards, with positions of so many
    `bits` (10 or 16); or, with `storage="legacy"`, a legacy mesh, whose positions are not rounded.
    `transform` is 12 numbers, from the units of the positions to nanometres. The folder appears
    when it is complete; `force` replaces one that is there. With `register`, the info of the
    volume that it lies in names it.
    """
    pairs, count = items_of(meshes)

    def rows() -> Iterator[tuple[int, Any, Any]]:
        for id, mesh in pairs:
            if hasattr(mesh, "vertices"):
                vertices, faces = mesh.vertices, mesh.faces
            else:
                vertices, faces = mesh
            checked = points(vertices, f"mesh {id}: vertices")
            yield int(id), checked, indices(faces, 3, len(checked), f"mesh {id}: faces")

    with shown(progress, "write") as call:
        return _core.write_meshes(
            location,
            rows(),
            storage,
            bits,
            None if transform is None else list(transform),
            count,
            0,
            register,
            force,
            jobs,
            memory,
            call,
        )


def read_file(content: bytes, kind: Literal["ply", "obj", "stl"] = "ply") -> Mesh:
    """The mesh that is in a file of another program. CorruptError if there is none."""
    mesh = Mesh.__new__(Mesh)
    mesh.vertices, mesh.faces = _core.parse_mesh_file(content, kind)
    mesh.id = None
    return mesh
