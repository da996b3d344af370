"""Indexes with arrays in them, and writes that leave voxels out: which boxes they touch.

What numpy does with a[index], where `index` has integer or boolean arrays: the arrays, and ints
beside them, are broadcast together and name points; slices stay dimensions of the result.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Indexes = npt.NDArray[np.intp]


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """A part of a selection: a box, and where its voxels are in it and in the result."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    points: Indexes  # which of the points
    inside: tuple[Any, ...]  # index of the box's array that gives them: points, then slices
    outside: tuple[Any, ...]  # of an array of points and slices

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(end - begin for begin, end in zip(self.begin, self.end))


@dataclasses.dataclass(frozen=True, slots=True)
class Points:
    """Coordinates in each dimension: those of points, all of one shape, where an array or an int
    chose them, or a range."""

    chosen: tuple[Indexes | range, ...]
    shape_of_points: tuple[int, ...]
    is_front: bool  # whether the points' dimensions come first in the result

    @property
    def _by_points(self) -> list[int]:
        return [d for d, chosen in enumerate(self.chosen) if not isinstance(chosen, range)]

    @property
    def _by_ranges(self) -> list[int]:
        return [d for d, chosen in enumerate(self.chosen) if isinstance(chosen, range)]

    @property
    def flat_shape(self) -> tuple[int, ...]:
        """Of an array with all points in its first dimension, and the ranges behind it."""
        count = int(np.prod(self.shape_of_points, dtype=np.int64))
        return (count, *(len(self.chosen[d]) for d in self._by_ranges))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result."""
        ranges = self.flat_shape[1:]
        at = self._place
        return (*ranges[:at], *self.shape_of_points, *ranges[at:])

    @property
    def _place(self) -> int:
        """How many dimensions of ranges come before the points."""
        if self.is_front or not self._by_points:
            return 0
        return self._by_points[0]

    def to_result(self, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        array = flat.reshape(*self.shape_of_points, *flat.shape[1:])
        count = len(self.shape_of_points)
        return np.moveaxis(array, range(count), range(self._place, self._place + count))

    def from_result(self, result: npt.NDArray[Any]) -> npt.NDArray[Any]:
        count = len(self.shape_of_points)
        array = np.moveaxis(result, range(self._place, self._place + count), range(count))
        return array.reshape(self.flat_shape)

    def blocks(self, origin: Sequence[int], unit: Sequence[int]) -> Iterator[Block]:
        """Boxes that lie each within one box of a lattice."""
        if 0 in self.flat_shape:
            return
        columns = [self.chosen[d].reshape(-1) for d in self._by_points]  # type: ignore[union-attr]
        group = np.zeros(self.flat_shape[0], np.intp)
        for d, column in zip(self._by_points, columns):
            # Numbered again in each dimension, so that there are at most as many as points.
            _, cell = np.unique((column - origin[d]) // unit[d], return_inverse=True)
            _, group = np.unique(group * (cell.max() + 1) + cell, return_inverse=True)
        order = np.argsort(group, kind="stable")  # Of points named twice, the last one counts.
        cuts = np.flatnonzero(np.diff(group[order])) + 1
        runs = [
            list(_runs(self.chosen[d], origin[d], unit[d]))  # type: ignore[arg-type]
            for d in self._by_ranges
        ]
        for points in np.split(order, cuts):
            for run in itertools.product(*runs):
                yield self._block(columns, points, run)

    def _block(
        self, columns: list[Indexes], points: Indexes, runs: Sequence[tuple[int, int]]
    ) -> Block:
        begin = [0] * len(self.chosen)
        end = [0] * len(self.chosen)
        inside: list[Any] = [None] * len(self.chosen)
        # Every range gets a dimension of its own behind that of the points.
        spread = [1] * (1 + len(runs))
        for d, column in zip(self._by_points, columns):
            at = column[points]
            begin[d], end[d] = int(at.min()), int(at.max()) + 1
            inside[d] = (at - begin[d]).reshape(-1, *spread[1:])
        for i, (d, (first, last)) in enumerate(zip(self._by_ranges, runs)):
            numbers = self.chosen[d][first:last]
            begin[d], end[d] = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1]) + 1
            shape = spread.copy()
            shape[1 + i] = -1
            inside[d] = (np.array(numbers, np.intp) - begin[d]).reshape(shape)
        outside = (points, *(slice(first, last) for first, last in runs))
        return Block(tuple(begin), tuple(end), points, tuple(inside), outside)


def _runs(numbers: range, origin: int, unit: int) -> Iterator[tuple[int, int]]:
    """Places of a range that are in one and the same cell of a lattice."""
    first = 0
    while first < len(numbers):
        low = origin + (numbers[first] - origin) // unit * unit
        border = (low + unit if numbers.step > 0 else low - 1) - numbers[first]
        last = min(len(numbers), first - (-border // numbers.step))
        yield first, last
        first = last


def as_indexes(item: Any) -> npt.NDArray[Any] | None:
    """An index that is an array, of integers or booleans; None if it is none."""
    if isinstance(item, (slice, int)) or item is Ellipsis or item is None:
        return None
    if not isinstance(item, (np.ndarray, list)) and not hasattr(item, "__array__"):
        return None
    array = np.asarray(item)
    if array.ndim == 0 and array.dtype != np.bool_:
        return None
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype.kind not in "iub" or array.ndim == 0:
        raise IndexError(
            f"arrays used as indexes are of integers or booleans, not {array.dtype}"
            if array.ndim
            else f"an index is an int, a slice, an ellipsis or an array, not {item!r}"
        )
    return array


def has_arrays(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(as_indexes(item) is not None for item in items)


def select_points(
    index: Any, begin: Sequence[int], end: Sequence[int], *, from_zero: bool
) -> Points:
    """What an index names. Absolute numbers mean themselves; `from_zero`, they are as numpy has
    them. A mask has no coordinates of its own: its first number is for the first voxel."""
    items = _expand_masks(list(index) if isinstance(index, tuple) else [index], begin, end)
    dimensions = len(begin)
    given = sum(item is not Ellipsis for item, _ in items)
    if given > dimensions:
        raise IndexError(f"{given} indexes, but there are {dimensions} dimensions")
    dots = [i for i, (item, _) in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("more than one ellipsis")
    # To numpy, an ellipsis separates arrays even if it stands for no dimension.
    is_cut = bool(dots) and all(
        any(not _is_plain(item) for item, _ in part)
        for part in (items[: dots[0]], items[dots[0] :])
    )
    at = dots[0] if dots else len(items)
    items[at : at + 1] = [(slice(None), False)] * (dimensions - given)
    has_points = any(not isinstance(item, slice) for item, _ in items)
    chosen: list[Any] = []
    for dimension, ((item, is_mask), low, high) in enumerate(zip(items, begin, end)):
        if isinstance(item, slice):
            chosen.append(range_of(item, low, high, from_zero=from_zero))
        else:
            numbers = _as_intp(item, dimension, low, high)
            chosen.append(_absolute(numbers, dimension, low, high, from_zero or is_mask))
    if not has_points:
        return Points(tuple(chosen), (), False)
    by_points = [d for d, one in enumerate(chosen) if not isinstance(one, range)]
    try:
        arrays = np.broadcast_arrays(*(chosen[d] for d in by_points))
    except ValueError:
        shapes = " ".join(str(chosen[d].shape) for d in by_points)
        raise IndexError(f"arrays of shapes {shapes} do not go together as indexes") from None
    for d, array in zip(by_points, arrays):
        chosen[d] = array
    together = by_points == list(range(by_points[0], by_points[-1] + 1))
    return Points(tuple(chosen), arrays[0].shape, is_cut or not together)


def range_of(item: slice, low: int, high: int, *, from_zero: bool = False) -> range:
    """The coordinates of a slice."""
    step = 1 if item.step is None else operator.index(item.step)
    if step == 0:
        raise IndexError("a step of 0")
    if from_zero:
        numbers = range(high - low)[item]
        return range(numbers.start + low, numbers.stop + low, numbers.step)
    first, last = (low, high) if step > 0 else (high - 1, low - 1)
    start = first if item.start is None else operator.index(item.start)
    stop = last if item.stop is None else operator.index(item.stop)
    is_within = (
        low <= start <= stop <= high if step > 0 else low - 1 <= stop <= start <= high - 1
    )
    if not is_within:
        raise IndexError(
            f"slice {start}:{stop}{'' if step == 1 else f':{step}'} is not within the bounds "
            f"{low}:{high}"
        )
    return range(start, stop, step)


def _expand_masks(
    items: list[Any], begin: Sequence[int], end: Sequence[int]
) -> list[tuple[Any, bool]]:
    """Each mask becomes as many arrays of integers as it has dimensions, from 0 on."""
    arrays = [as_indexes(item) for item in items]
    widths = [
        0 if item is Ellipsis else array.ndim if array is not None and array.dtype == bool else 1
        for item, array in zip(items, arrays)
    ]
    every: list[tuple[Any, bool]] = []
    for i, (item, array) in enumerate(zip(items, arrays)):
        if array is None:
            every.append((item if _is_plain(item) else _whole(item), False))
        elif array.dtype != bool:
            every.append((array, False))
        else:
            before = sum(widths[:i])
            if any(other is Ellipsis for other in items[:i]):
                before = len(begin) - sum(widths[i:])
            shape = tuple(e - b for b, e in zip(begin, end))[max(0, before) :][: array.ndim]
            if array.shape != shape:
                raise IndexError(f"a mask of shape {array.shape} for dimensions of {shape}")
            every.extend((numbers, True) for numbers in array.nonzero())
    return every


def _is_plain(item: Any) -> bool:
    return isinstance(item, slice) or item is Ellipsis


def _whole(item: Any) -> int:
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise IndexError(f"an index is an int, a slice, an ellipsis or an array, not {item!r}")
    return operator.index(item)


def _as_intp(item: Any, dimension: int, low: int, high: int) -> Indexes:
    numbers = np.asarray(item)
    # Numbers that do not fit would become others, which may name other voxels.
    may_not_fit = numbers.dtype.kind in "uO" and numbers.size > 0
    limits = np.iinfo(np.intp)
    for number in (int(numbers.min()), int(numbers.max())) if may_not_fit else ():
        if not limits.min <= number <= limits.max:
            raise IndexError(
                f"index {number} of dimension {dimension} is not within the bounds {low}:{high}"
            )
    return numbers.astype(np.intp, casting="same_kind", copy=False)


def _absolute(numbers: Indexes, dimension: int, low: int, high: int, from_zero: bool) -> Indexes:
    if from_zero:
        size = high - low
        wrong = numbers[(numbers < -size) | (numbers >= size)]
        if wrong.size:
            raise IndexError(
                f"index {wrong.flat[0]} is out of bounds for dimension {dimension}, of size {size}"
            )
        return np.where(numbers < 0, numbers + size, numbers) + low
    wrong = numbers[(numbers < low) | (numbers >= high)]
    if wrong.size:
        raise IndexError(
            f"index {wrong.flat[0]} of dimension {dimension} is not within the bounds {low}:{high}"
        )
    return numbers
