"""Indexes of volumes: from what stands between brackets to a box of voxels."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

from ._points import range_of

Vector = tuple[int, int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """A box, and what is to be taken of it: in each dimension a slice, or 0 if an int chose it.
    The box has three dimensions, or four with the channel."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    taken: tuple[slice | int, ...]

    @property
    def box(self) -> tuple[Vector, Vector]:
        return self.begin[:3], self.end[:3]  # type: ignore[return-value]

    @property
    def channels(self) -> tuple[int, int]:
        """The first channel, and the one past the last."""
        return (self.begin[3], self.end[3]) if len(self.begin) == 4 else (0, 1)

    @property
    def steps(self) -> Vector:
        """From one voxel that is taken to the next, in either direction."""
        x, y, z = (abs(taken.step) if isinstance(taken, slice) else 1 for taken in self.taken[:3])
        return x, y, z

    @property
    def request(self) -> tuple[tuple[Vector, Vector], Vector, tuple[int, int]]:
        """What the engine reads: box, steps, channels."""
        return self.box, self.steps, self.channels

    @property
    def read_shape(self) -> tuple[int, ...]:
        """Of what the engine reads: all dimensions, with the channels that are passed over."""
        sizes = [end - begin for begin, end in zip(self.begin, self.end)]
        return (*(-(-size // step) for size, step in zip(sizes, self.steps)), *sizes[3:])

    @property
    def order(self) -> tuple[slice | int, ...]:
        """What makes the result of that: dimensions to drop or to turn round, steps in the
        channel."""
        turned = [
            slice(None, None, 1 if taken.step > 0 else -1) if isinstance(taken, slice) else taken
            for taken in self.taken[:3]
        ]
        return (*turned, *self.taken[3:])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result."""
        return tuple(
            len(range(size)[order])
            for size, order in zip(self.read_shape, self.order)
            if isinstance(order, slice)
        )

    @property
    def has_gaps(self) -> bool:
        """Whether voxels of the box are passed over."""
        return any(isinstance(taken, slice) and abs(taken.step) != 1 for taken in self.taken)

    @property
    def skips_channels(self) -> bool:
        """Whether channels are read that are not in the result."""
        return any(isinstance(taken, slice) and abs(taken.step) != 1 for taken in self.taken[3:])


def vector(name: str, value: Any) -> Vector:
    """Three ints."""
    try:
        x, y, z = map(operator.index, value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: found {value!r}, expected three integers") from None
    return x, y, z


def text_of(begin: Sequence[int], end: Sequence[int]) -> str:
    return ", ".join(f"{b}:{e}" for b, e in zip(begin, end))


def select(index: Any, begin: Sequence[int], end: Sequence[int]) -> Selection:
    """By absolute coordinates: numbers mean themselves, what is left out means the bounds, and
    nothing is clipped."""
    every = _expand(index, len(begin))
    first: list[int] = []
    last: list[int] = []
    taken: list[slice | int] = []
    for item, low, high in zip(every, begin, end):
        if isinstance(item, slice):
            step = 1 if item.step is None else operator.index(item.step)
            if step > 0:
                first.append(low if item.start is None else operator.index(item.start))
                last.append(high if item.stop is None else operator.index(item.stop))
            else:
                # From the last voxel down to the one behind `stop`.
                numbers = range_of(item, low, high)
                last.append(numbers.start + 1)
                first.append(numbers[-1] if numbers else numbers.start + 1)
            taken.append(slice(None, None, step))
        else:
            first.append(item)
            last.append(item + 1)
            taken.append(0)
    for b, e, low, high in zip(first, last, begin, end):
        if b < low or e > high or b > e:
            raise IndexError(
                f"box [{text_of(first, last)}] is not within the bounds [{text_of(begin, end)}]"
            )
    return Selection(tuple(first), tuple(last), tuple(taken))


def select_from_zero(index: Any, begin: Sequence[int], end: Sequence[int]) -> Selection:
    """As numpy has it: from 0, negative numbers from the end, slices clipped."""
    every = _expand(index, len(begin))
    first: list[int] = []
    last: list[int] = []
    taken: list[slice | int] = []
    for dimension, (item, low, high) in enumerate(zip(every, begin, end)):
        size = high - low
        if isinstance(item, slice):
            numbers = range(size)[item]
            ends = (numbers[0], numbers[-1]) if numbers else (0,)
            first.append(low + min(ends))
            last.append(low + max(ends) + (1 if numbers else 0))
            taken.append(slice(None, None, numbers.step))
        else:
            number = item + size if item < 0 else item
            if not 0 <= number < size:
                raise IndexError(
                    f"index {item} is out of bounds for dimension {dimension}, of size {size}"
                )
            first.append(low + number)
            last.append(low + number + 1)
            taken.append(0)
    return Selection(tuple(first), tuple(last), tuple(taken))


def _expand(index: Any, dimensions: int) -> list[slice | int]:
    """A slice or an int for each dimension."""
    items = list(index) if isinstance(index, tuple) else [index]
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("more than one ellipsis")
    given = len(items) - len(dots)
    if given > dimensions:
        raise IndexError(f"{given} indexes, but there are {dimensions} dimensions")
    at = dots[0] if dots else len(items)
    items[at : at + 1] = [slice(None)] * (dimensions - given)
    return [item if isinstance(item, slice) else _number(item) for item in items]


def _number(item: Any) -> int:
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise IndexError(f"an index is an int, a slice, an ellipsis or an array, not {item!r}")
    return operator.index(item)
