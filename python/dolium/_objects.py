"""What dolium.mesh and dolium.skeleton share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Path: TypeAlias = str | os.PathLike[str]
Storage: TypeAlias = Literal["unsharded", "sharded", "legacy"]
Ids: TypeAlias = Iterable[int] | npt.NDArray[Any]
Objects = TypeVar("Objects")

DEFAULT_MEMORY = 256 << 20


def items_of(objects: Any) -> tuple[Iterator[tuple[int, Any]], int]:
    """Pairs of id and object, of a mapping or of any iterable of pairs, and how many there are,
    0 if that is not known."""
    if isinstance(objects, Mapping):
        return iter(objects.items()), len(objects)
    try:
        count = len(objects)
    except TypeError:
        count = 0
    return iter(objects), count


def points(values: npt.ArrayLike, what: str) -> npt.NDArray[np.float32]:
    """An array of positions, three for each row."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{what}: found an array of shape {array.shape}, expected (n, 3)")
    return array


def indices(values: npt.ArrayLike, columns: int, count: int, what: str) -> npt.NDArray[np.uint32]:
    """An array of indices of `count` vertices."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros((0, columns), np.uint32)
    if array.ndim != 2 or array.shape[1] != columns:
        raise ValueError(f"{what}: found an array of shape {array.shape}, expected (n, {columns})")
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{what}: found numbers of {array.dtype}, expected integers")
    if int(array.min()) < 0 or int(array.max()) >= count:
        raise ValueError(f"{what}: from {array.min()} to {array.max()}, there are {count} vertices")
    return np.ascontiguousarray(array, dtype=np.uint32)
