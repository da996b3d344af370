"""Annotations of Neuroglancer: points, lines, boxes, ellipsoids, polylines.

    dolium.annotations.write(
        "synapses", points, {"score": scores}, dimensions={"x": (8, "nm"), "y": (8, "nm"), "z": (40, "nm")}
    )
    found = dolium.annotations.open("synapses").query([0, 0, 0], [100, 100, 50])
    found.array["geometry"], found.array["score"]

Arrays are numpy's. What is found is a structured array with `id`, `geometry` and a field for each
property; polylines, which differ in length, have their points in a list. A folder appears when it is
complete, and memory does not grow with it. Tables of pyarrow are taken and made where that is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._plans import DEFAULT_MEMORY
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-not-found,import-untyped]
    from typing_extensions import Self

__all__ = ["Annotations", "Found", "Writer", "from_table", "open", "read_parquet", "to_table", "write", "write_parquet"]

Path: TypeAlias = str | os.PathLike[str]
Type: TypeAlias = Literal["point", "line", "axis_aligned_bounding_box", "ellipsoid", "polyline"]
# Names, each with the size of a unit and its name.
Dimensions: TypeAlias = Mapping[str, tuple[float, str]]

NANOMETRES: Dimensions = {"x": (1, "nm"), "y": (1, "nm"), "z": (1, "nm")}
# Rows that are turned into records at once.
_ROWS = 1 << 18
_COLORS = {"rgb": 3, "rgba": 4}
_SHARD_BYTES = 50_000_000


@dataclass(frozen=True)
class Found:
    """Annotations."""

    # `id`, `geometry` (not of polylines) and the properties.
    array: npt.NDArray[np.void]
    # Of polylines: an array of points for each.
    points: list[npt.NDArray[np.float32]] | None
    # By name, ids for each annotation; empty where they were not read.
    relationships: dict[str, list[npt.NDArray[np.uint64]]]

    def __len__(self) -> int:
        return len(self.array)


def _property_dtype(
    properties: Sequence[Mapping[str, Any]], offsets: Sequence[int], itemsize: int
) -> np.dtype[np.void]:
    formats = [
        ("u1", (_COLORS[one["type"]],)) if one["type"] in _COLORS else np.dtype(one["type"]).newbyteorder("<")
        for one in properties
    ]
    names = [one["id"] for one in properties]
    return np.dtype({"names": names, "formats": formats, "offsets": list(offsets), "itemsize": itemsize})


def _split(numbers: bytes, ends: bytes, dtype: str) -> list[npt.NDArray[Any]]:
    limits = np.frombuffer(ends, "<u8").astype(np.int64)
    return np.split(np.frombuffer(numbers, dtype), limits[:-1]) if len(limits) else []


class Annotations:
    """The annotations of a folder."""

    def __init__(self, location: Path) -> None:
        self._reader = _core.AnnotationReader(location)
        #: What the info says.
        self.info: dict[str, Any] = json.loads(self._reader.info())
        self._dtype = _property_dtype(
            self.info["properties"], self._reader.offsets(), self._reader.property_bytes()
        )

    @property
    def rank(self) -> int:
        return len(self.info["dimensions"])

    @property
    def type(self) -> str:
        return str(self.info["annotation_type"])

    def ids(self) -> npt.NDArray[np.uint64]:
        """All ids, ascending."""
        return np.frombuffer(self._reader.ids(), "<u8")

    def get(self, ids: Iterable[int], *, jobs: int = 0) -> Found:
        """Those with these ids, with their relationships; ids that are not there are left out."""
        return self._found(self._reader.get(ids, jobs))

    def query(
        self, lower: Sequence[float], upper: Sequence[float], *, levels: int = 0, jobs: int = 0
    ) -> Found:
        """Those that meet a closed box; of the first levels of the spatial index, if that is not 0."""
        return self._found(
            self._reader.query([float(x) for x in lower], [float(x) for x in upper], levels, jobs)
        )

    def related(self, relationship: str, id: int) -> Found:
        """Those related to an id."""
        return self._found(self._reader.related(relationship, id))

    def _found(self, parts: tuple[bytes, bytes, bytes, bytes, list[tuple[bytes, bytes]]]) -> Found:
        ids, geometry, ends, properties, related = parts
        count = len(ids) // 8
        is_polyline = self.type == "polyline"
        numbers = 0 if is_polyline or count == 0 else len(geometry) // 4 // count
        if not is_polyline and count == 0:
            numbers = self.rank * (1 if self.type == "point" else 2)
        fields: list[Any] = [("id", "<u8")]
        if not is_polyline:
            fields.append(("geometry", "<f4", (numbers,)))
        fields += [(name, *_subtype(self._dtype[name])) for name in self._dtype.names or ()]
        array = np.zeros(count, np.dtype(fields))
        array["id"] = np.frombuffer(ids, "<u8")
        if not is_polyline:
            array["geometry"] = np.frombuffer(geometry, "<f4").reshape(count, numbers)
        if self._dtype.itemsize:
            records = np.frombuffer(properties, self._dtype)
            for name in self._dtype.names or ():
                array[name] = records[name]
        points = None
        if is_polyline:
            points = [one.reshape(-1, self.rank) for one in _split(geometry, ends, "<f4")]
        names = [one["id"] for one in self.info["relationships"]]
        relationships = {name: _split(*one, "<u8") for name, one in zip(names, related)}
        return Found(array, points, relationships)

    def __repr__(self) -> str:
        return f"<annotations of type {self.type}, {self.rank} dimensions>"


def _subtype(dtype: np.dtype[Any]) -> tuple[Any, ...]:
    return dtype.subdtype if dtype.subdtype else (dtype,)


def open(location: Path) -> Annotations:
    """Opens a folder of annotations."""
    return Annotations(location)


def _property_type(values: npt.NDArray[Any]) -> str:
    if values.ndim == 2 and values.dtype == np.uint8 and values.shape[1] in (3, 4):
        return "rgb" if values.shape[1] == 3 else "rgba"
    name = values.dtype.name
    if values.ndim == 1 and name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"):
        return name
    if values.ndim == 1 and name == "float64":
        return "float32"
    raise TypeError(
        f"a property of {values.dtype} and shape {values.shape}: expected (u)int8, 16 or 32 or float32 "
        "numbers, or colours of uint8 with 3 or 4 columns"
    )


class Writer:
    """A new folder of annotations. A context: it is complete at the end, and dropped after an exception.

    `properties` are names and types, or infos of properties with `id`, `type`, `enum_values` ...
    `limit` is about how many annotations a cell of the spatial index shows, `seed` chooses which.
    """

    def __init__(
        self,
        target: Path,
        type: Type = "point",
        *,
        dimensions: Dimensions = NANOMETRES,
        properties: Mapping[str, str] | Sequence[Mapping[str, Any]] = (),
        relationships: Sequence[str] = (),
        lower_bound: Sequence[float] | None = None,
        upper_bound: Sequence[float] | None = None,
        force: bool = False,
        unsharded: bool = False,
        encoding: Literal["raw", "gzip"] = "gzip",
        shard_size: int = _SHARD_BYTES,
        limit: int = 10000,
        seed: int = 0,
        memory: int = DEFAULT_MEMORY,
        jobs: int = 0,
    ) -> None:
        if isinstance(properties, Mapping):
            properties = [{"id": name, "type": kind} for name, kind in properties.items()]
        if (lower_bound is None) != (upper_bound is None):
            raise TypeError("lower_bound and upper_bound go together")
        rank = len(dimensions)
        schema = {
            "@type": "neuroglancer_annotations_v1",
            "annotation_type": type,
            "dimensions": {name: [scale, unit] for name, (scale, unit) in dimensions.items()},
            "lower_bound": [float(x) for x in lower_bound or [0] * rank],
            "upper_bound": [float(x) for x in upper_bound or [0] * rank],
            "properties": list(properties),
            "relationships": [{"id": name, "key": f"rel_{name}"} for name in relationships],
            "by_id": {"key": "by_id"},
            "spatial": [],
        }
        self._writer = _core.AnnotationWriter(
            target, json.dumps(schema), force, unsharded, encoding, shard_size, limit, seed, memory, jobs
        )
        self._type = type
        self._rank = rank
        self._relationships = list(relationships)
        self._dtype = _property_dtype(properties, self._writer.offsets(), self._writer.property_bytes())
        self._next = 0

    def add(
        self,
        points: Any,
        properties: Mapping[str, Any] | None = None,
        relationships: Mapping[str, Sequence[Any]] | None = None,
        *,
        ids: npt.ArrayLike | None = None,
    ) -> None:
        """Adds annotations.

        `points` has a row of coordinates for each: of the point; of two ends, corners, or centre and
        radii one after another; of polylines a list of arrays of points. `properties` are arrays by
        name; those that are left out are 0. `relationships` has, by name, a list of ids for each
        annotation. Without `ids` they are counted from 0.
        """
        ends: npt.NDArray[Any] | None = None
        geometry: npt.NDArray[Any]
        if self._type == "polyline":
            shapes = [np.asarray(one, "<f4").reshape(-1, self._rank) for one in points]
            count = len(shapes)
            ends = np.cumsum([one.size for one in shapes], dtype="<u8") if shapes else np.zeros(0, "<u8")
            geometry = np.concatenate(shapes).ravel() if shapes else np.zeros(0, "<f4")
        else:
            wide = self._rank * (1 if self._type == "point" else 2)
            geometry = np.asarray(points)
            count = len(geometry)
            if geometry.size != count * wide:
                raise ValueError(f"points: shape {geometry.shape}, expected ({count}, {wide})")
            geometry = geometry.reshape(count, wide)
        if ids is None:
            numbers = np.arange(self._next, self._next + count, dtype="<u8")
        else:
            numbers = np.ascontiguousarray(ids, "<u8")
            if numbers.shape != (count,):
                raise ValueError(f"ids: shape {numbers.shape}, expected ({count},)")
        columns = {name: np.asarray(values) for name, values in (properties or {}).items()}
        for name, values in columns.items():
            if name not in (self._dtype.names or ()):
                raise ValueError(f"no property {name!r}")
            if len(values) != count:
                raise ValueError(f"property {name!r}: {len(values)} values for {count} annotations")
        related = [self._related(name, (relationships or {}).get(name), count) for name in self._relationships]
        # A part at a time, so that no copy of everything is made.
        step = _ROWS if ends is None and not related else max(count, 1)
        for begin in range(0, count, step):
            rows = slice(begin, min(begin + step, count))
            records = np.zeros(rows.stop - rows.start, self._dtype)
            for name, values in columns.items():
                records[name] = _checked(name, values[rows], self._dtype[name])
            part = geometry if ends is not None else np.ascontiguousarray(geometry[rows], "<f4")
            stored = records.view(np.uint8) if self._dtype.itemsize else np.zeros(0, np.uint8)
            self._writer.add(numbers[rows], part, ends, stored, related)
        self._next += count

    def _related(
        self, name: str, lists: Sequence[Any] | None, count: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        if lists is None:
            return np.zeros(0, "<u8"), np.zeros(count, "<u8")
        if len(lists) != count:
            raise ValueError(f"relationship {name!r}: {len(lists)} lists for {count} annotations")
        if isinstance(lists, np.ndarray) and lists.ndim == 1 and lists.dtype != object:
            return np.ascontiguousarray(lists, "<u8"), np.arange(1, count + 1, dtype="<u8")
        arrays = [np.atleast_1d(np.asarray(one, "<u8")) for one in lists]
        ends = np.cumsum([len(one) for one in arrays], dtype="<u8") if arrays else np.zeros(0, "<u8")
        return np.concatenate(arrays) if arrays else np.zeros(0, "<u8"), ends

    def finish(self, progress: Progress | None = None) -> dict[str, int]:
        """Writes all indexes, and lets the folder appear. Gives counts."""
        with shown(progress, "annotations") as call:
            return self._writer.finish(call)

    def close(self) -> None:
        """Drops what is not finished."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if type is None:
            self.finish()
        else:
            self.close()


def _checked(name: str, values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    base = dtype.base
    if values.dtype == base or base.kind == "f":
        return values
    cast = values.astype(base)
    if not np.array_equal(cast, values):
        raise ValueError(f"property {name!r}: values that {base} does not hold")
    return cast


def write(
    target: Path,
    points: Any,
    properties: Mapping[str, Any] | None = None,
    relationships: Mapping[str, Sequence[Any]] | None = None,
    *,
    ids: npt.ArrayLike | None = None,
    type: Type = "point",
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, int]:
    """Writes a folder of annotations, of arrays; `options` are those of Writer. Gives counts.

    Types of properties are those of the arrays: numbers of 8, 16 or 32 bits, float32 (float64 is
    rounded), or colours, of uint8 with 3 or 4 columns.
    """
    columns = {name: np.asarray(values) for name, values in (properties or {}).items()}
    kinds = {name: _property_type(values) for name, values in columns.items()}
    writer = Writer(target, type, properties=kinds, relationships=list(relationships or {}), **options)
    try:
        writer.add(points, columns, relationships, ids=ids)
        return writer.finish(progress)
    finally:
        writer.close()


def _coordinate_columns(type: str, names: Sequence[str]) -> list[str]:
    if type == "point":
        return list(names)
    if type == "ellipsoid":
        return [*names, *(f"r{name}" for name in names)]
    return [f"{name}{i}" for i in (1, 2) for name in names]


def to_table(annotations: Annotations, found: Found) -> pyarrow.Table:
    """A table of pyarrow with columns as in CSV: id, coordinates, properties, relationships."""
    import pyarrow as pa

    columns: dict[str, Any] = {"id": found.array["id"]}
    if found.points is None:
        names = _coordinate_columns(annotations.type, list(annotations.info["dimensions"]))
        for i, name in enumerate(names):
            columns[name] = np.ascontiguousarray(found.array["geometry"][:, i])
    else:
        columns["points"] = pa.array([one.ravel() for one in found.points], pa.list_(pa.float32()))
    for one in annotations.info["properties"]:
        values = found.array[one["id"]]
        columns[one["id"]] = pa.array(list(values), pa.list_(pa.uint8())) if values.ndim == 2 else values
    for name, lists in found.relationships.items():
        columns[name] = pa.array(lists, pa.list_(pa.uint64()))
    return pa.table(columns)


def from_table(
    target: Path,
    table: pyarrow.Table,
    *,
    type: Type = "point",
    dimensions: Dimensions = NANOMETRES,
    relationships: Sequence[str] = (),
    **options: Any,
) -> dict[str, int]:
    """Writes a folder of annotations, of a table with columns as to_table() makes them."""
    names = ["points"] if type == "polyline" else _coordinate_columns(type, list(dimensions))
    missing = [name for name in [*names, *relationships] if name not in table.column_names]
    if missing:
        raise ValueError(f"no column {missing[0]!r} among {', '.join(table.column_names)}")
    points: Any
    if type == "polyline":
        points = table["points"].to_pylist()
    else:
        points = np.stack([table[name].to_numpy() for name in names], axis=1)
    lists = {name: table[name].to_pylist() for name in relationships}
    rest = [name for name in table.column_names if name not in {"id", *names, *relationships}]
    properties = {name: _column(table[name]) for name in rest}
    ids = table["id"].to_numpy() if "id" in table.column_names else None
    return write(
        target, points, properties, lists, ids=ids, type=type, dimensions=dimensions, **options
    )


def _column(column: Any) -> npt.NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
        return np.array(column.to_pylist(), np.uint8)
    return np.asarray(column.to_numpy())


def read_parquet(target: Path, file: Path, **options: Any) -> dict[str, int]:
    """Writes a folder of annotations, of a Parquet file: see from_table()."""
    import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped]

    return from_table(target, pq.read_table(os.fspath(file)), **options)


def write_parquet(location: Path, file: Path) -> int:
    """Writes all annotations to a Parquet file: see to_table(). Gives how many."""
    import pyarrow.parquet as pq

    annotations = Annotations(location)
    found = annotations.get(annotations.ids())
    pq.write_table(to_table(annotations, found), os.fspath(file))
    return len(found)
