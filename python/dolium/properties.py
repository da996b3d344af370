"""Segment properties of Neuroglancer: labels, descriptions, texts, tags and numbers of segments.

    properties = dolium.properties.make("seg")            # voxels, box and centre of each label
    properties["label"] = Property("label", names)
    dolium.properties.write("seg", properties)
    dolium.properties.read("seg").ids

A location is their folder, or a volume, whose info then names the folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-not-found,import-untyped]

__all__ = ["Properties", "Property", "from_csv", "from_parquet", "from_table", "make", "read", "write"]

Path: TypeAlias = str | os.PathLike[str]
Kind: TypeAlias = Literal["label", "description", "string", "tags", "number"]
_NUMBERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32")


@dataclass
class Property:
    """One property, with a value for each segment.

    Values are a list of str; of tags a list of lists of str; of numbers an array of a type that the
    client shows: integers of up to 32 bits or float32.
    """

    kind: Kind
    values: Any
    description: str = ""
    tag_descriptions: dict[str, str] = field(default_factory=dict)


@dataclass
class Properties:
    """The properties of segments, by name."""

    ids: npt.NDArray[np.uint64]
    columns: dict[str, Property] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Property:
        return self.columns[name]

    def __setitem__(self, name: str, value: Property) -> None:
        self.columns[name] = value

    def __len__(self) -> int:
        return len(self.ids)


def number(values: npt.ArrayLike, description: str = "") -> Property:
    """Numbers: as they are if a client shows their type, else as uint32, int32 or float32."""
    array = np.asarray(values)
    if array.dtype.name not in _NUMBERS:
        for kind in (np.uint32, np.int32):
            limits = np.iinfo(kind)
            if np.all(array == np.floor(array)) and np.all(
                (array >= limits.min) & (array <= limits.max)
            ):
                return Property("number", array.astype(kind), description)
        array = array.astype(np.float32)
    return Property("number", array, description)


def _parse(text: str) -> Properties:
    inline = json.loads(text)["inline"]
    ids = np.array([int(one) for one in inline["ids"]], np.uint64)
    out = Properties(ids)
    for one in inline["properties"]:
        values = one["values"]
        descriptions = {}
        if one["type"] == "number":
            values = np.array(values, one["data_type"])
        elif one["type"] == "tags":
            tags = one["tags"]
            values = [[tags[i] for i in places] for places in values]
            descriptions = {tag: text for tag, text in zip(tags, one.get("tag_descriptions", [])) if text}
        out.columns[one["id"]] = Property(one["type"], values, one.get("description", ""), descriptions)
    return out


def _column_json(name: str, column: Property) -> dict[str, Any]:
    out: dict[str, Any] = {"id": name, "type": column.kind}
    if column.description:
        out["description"] = column.description
    if column.kind == "number":
        array = np.asarray(column.values)
        if array.dtype.name not in _NUMBERS:
            array = number(array).values
        out["data_type"] = array.dtype.name
        out["values"] = array.tolist()
    elif column.kind == "tags":
        tags = sorted({tag for one in column.values for tag in one})
        places = {tag: i for i, tag in enumerate(tags)}
        out["tags"] = tags
        if column.tag_descriptions:
            out["tag_descriptions"] = [column.tag_descriptions.get(tag, "") for tag in tags]
        out["values"] = [sorted({places[tag] for tag in one}) for one in column.values]
    else:
        out["values"] = list(column.values)
    return out


def read(location: Path) -> Properties:
    """The properties of a folder, or those that the info of a volume names."""
    return _parse(_core.read_segment_properties(location))


def write(location: Path, properties: Properties, *, force: bool = False) -> str:
    """Writes them to a folder, or beside a volume, whose info then names them. Gives the folder."""
    info = {
        "@type": "neuroglancer_segment_properties",
        "inline": {
            "ids": [str(int(one)) for one in properties.ids],
            "properties": [_column_json(name, one) for name, one in properties.columns.items()],
        },
    }
    return _core.write_segment_properties(location, json.dumps(info), force)


def from_csv(file: Path) -> Properties:
    """Those of a CSV file, as `dolium properties import` reads it."""
    return _parse(_core.segment_properties_of_csv(file))


def from_table(table: pyarrow.Table, kinds: dict[str, Kind] | None = None) -> Properties:
    """Those of a table of pyarrow with a column `id`.

    Without a kind, columns called label, description and tags are that, numbers are numbers, lists
    are tags, and all else is text.
    """
    import pyarrow as pa

    if "id" not in table.column_names:
        raise ValueError(f"no column 'id' among {', '.join(table.column_names)}")
    out = Properties(table["id"].to_numpy().astype(np.uint64))
    for name in table.column_names:
        if name == "id":
            continue
        column = table[name]
        kind = (kinds or {}).get(name)
        if kind is None and name in ("label", "description", "tags"):
            kind = name  # type: ignore[assignment]
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        is_list = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
        if kind is None:
            kind = "number" if is_number else "tags" if is_list else "string"
        if kind == "number":
            out[name] = number(column.to_numpy())
        elif kind == "tags":
            out[name] = Property("tags", [_tags(one) for one in column.to_pylist()])
        else:
            texts = ["" if one is None else str(one) for one in column.to_pylist()]
            out[name] = Property(kind, texts)
    return out


def _tags(value: str | Sequence[str] | None) -> list[str]:
    if value is None:
        return []
    return value.split() if isinstance(value, str) else list(value)


def from_parquet(file: Path, kinds: dict[str, Kind] | None = None) -> Properties:
    """Those of a Parquet file: see from_table()."""
    import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped]

    return from_table(pq.read_table(os.fspath(file)), kinds)


def make(
    volume: Path, *, scale: int = 0, jobs: int = 0, progress: Progress | None = None
) -> Properties:
    """Voxels, bounding box and centre of each label but 0, from one scale of a segmentation."""
    with shown(progress, "segments") as call:
        return _parse(_core.measure_segments(volume, scale, jobs, call))
