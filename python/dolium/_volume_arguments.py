"""What callers say of volumes, as the engine takes it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._indexing import vector

Path: TypeAlias = str | os.PathLike[str]
VolumeType: TypeAlias = Literal["image", "segmentation"]
Encoding: TypeAlias = Literal[
    "raw", "jpeg", "png", "jxl", "compressed_segmentation", "compresso"
]
# What a DVID export was made with: JSON text, a dict, or a file.
Spec: TypeAlias = dict[str, Any] | str | os.PathLike[str]
# What the keys of its blocks count.
Coordinates: TypeAlias = Literal["auto", "block", "voxel"]
Sharding: TypeAlias = _core.ShardingSpec | dict[str, Any] | str | os.PathLike[str]


_STORAGE = (
    "chunk_size", "encoding", "block_size", "quality", "png_level", "effort", "sharded",
    "shard_size", "to_spec", "gzip_files",
)  # fmt: skip
# Names that some of these had before.
_OLDER = {"png_level": "level", "to_spec": "sharding"}


def either(name: str, value: Any, older_name: str, older: Any) -> Any:
    """What was given by one of two names of the same thing; TypeError if by both."""
    if value is not None and older is not None:
        raise TypeError(f"{name} and {older_name} are the same thing")
    return older if value is None else value


def storage_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How chunks are stored, as the engine takes it, of the arguments of a function (locals()).
    None means no wish: shard_size and to_spec then imply shards, gzip_files none, and what
    contradicts is a ValueError."""
    options = {name: arguments[name] for name in _STORAGE if name in arguments}
    for name, older in _OLDER.items():
        if older in arguments:
            options[name] = either(name, options.get(name), older, arguments[older])
    for name in ("chunk_size", "block_size"):
        if options.get(name) is not None:
            options[name] = vector(name, options[name])
    return options


def export_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How a DVID export is read as a volume, in the same way. `salvage` is the older name of
    `skip_damaged`."""
    resolution = arguments["resolution"]
    return {
        "supervoxels": arguments.get("supervoxels", False),
        "spec": arguments["spec"],
        "resolution": None if resolution is None else nanometres(resolution),
        "coordinates": arguments["coordinates"],
        "salvage": arguments.get("skip_damaged", False) or arguments["salvage"],
    }


def nanometres(resolution: Sequence[float]) -> tuple[float, float, float]:
    try:
        x, y, z = map(float, resolution)
    except (TypeError, ValueError):
        raise ValueError(f"resolution: found {resolution!r}, expected three numbers") from None
    return x, y, z


def type_name(dtype: npt.DTypeLike) -> str:
    return np.dtype(dtype).newbyteorder("=").name


def as_type(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array of this type, without a copy if it is one; TypeError or ValueError if numbers
    could change."""
    array = np.asarray(value)
    if array.dtype == dtype:
        return array
    if np.can_cast(array.dtype, dtype, "safe"):
        return array.astype(dtype)
    # Numbers of Python have no type of their own: what counts is whether they fit.
    if array.ndim == 0 or not hasattr(value, "dtype"):
        if dtype.kind == "f" and array.dtype.kind in "iuf":
            return array.astype(dtype)
        if dtype.kind in "iu" and array.dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
            if low < limits.min or high > limits.max:
                raise ValueError(f"{low if low < limits.min else high} does not fit {dtype}")
            return array.astype(dtype)
        if dtype.kind in "iu" and isinstance(value, int):
            raise ValueError(f"{value} does not fit {dtype}")
    raise TypeError(
        f"an array of {array.dtype} for a volume of {dtype}: numbers could change; "
        f"if that is meant, convert it with .astype('{dtype}')"
    )
