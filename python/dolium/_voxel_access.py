"""Voxels of one scale by indexes: what brackets of a volume read and write."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._indexing import Selection, Vector, select, select_from_zero
from ._points import Block, Points, has_arrays, select_points
from ._volume_arguments import as_type

Box: TypeAlias = tuple[Vector, Vector]
Missing: TypeAlias = Literal["zero", "error"]

_BATCH_BYTES = 64 << 20  # read at once for indexes that are arrays
_MASKED_BYTES = 256 << 20  # written at once, with their mask


class VoxelAccess:
    """A scale, and indexes of any kind into it. Volume is one, with all else that a volume has."""

    __slots__ = ("_scale", "_dtype", "_begin", "_end")

    def __init__(self, scale: _core.VolumeScale) -> None:
        """Volume.open() or Volume.create() make one."""
        self._scale = scale
        self._dtype = np.dtype(scale.data_type)
        begin, end = scale.bounds
        channels = scale.num_channels
        # As indexes have them: with the channel if there are several.
        self._begin: tuple[int, ...] = (*begin, 0) if channels > 1 else tuple(begin)
        self._end: tuple[int, ...] = (*end, channels) if channels > 1 else tuple(end)

    @property
    def ndim(self) -> int:
        return len(self._begin)

    @property
    def num_channels(self) -> int:
        return self._scale.num_channels

    @property
    def chunk_size(self) -> Vector:
        return self._scale.chunk_size

    def _get(
        self,
        index: Any,
        from_zero: bool = False,
        missing: Missing = "zero",
        jobs: int = 0,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        """What an index gives; `from_zero`, as numpy counts."""
        if has_arrays(index):
            points = select_points(index, self._begin, self._end, from_zero=from_zero)
            return self._take_points(points, missing, jobs, out)
        by = select_from_zero if from_zero else select
        return self._take(by(index, self._begin, self._end), missing, jobs, out)

    def _set(self, index: Any, value: Any, from_zero: bool = False, jobs: int = 0) -> None:
        if not has_arrays(index):
            by = select_from_zero if from_zero else select
            selection = by(index, self._begin, self._end)
            if not selection.has_gaps:
                self._put(selection, value, jobs)
                return
        points = select_points(index, self._begin, self._end, from_zero=from_zero)
        self._put_points(points, value, jobs)

    def _take_points(
        self, points: Points, missing: Missing, jobs: int, out: npt.NDArray[Any] | None
    ) -> Any:
        strict = is_strict(missing)
        if out is not None:
            self._check_out(points.shape, out)
        flat = np.empty(points.flat_shape, self._dtype)
        batch: list[tuple[Block, npt.NDArray[Any]]] = []
        size = 0
        for block in points.blocks(self._begin, (*self.chunk_size, self.num_channels)):
            array = np.empty(block.shape, self._dtype, order="F")
            batch.append((block, array))
            size += array.nbytes
            if size > _BATCH_BYTES:
                self._read_blocks(batch, flat, strict, jobs)
                batch, size = [], 0
        self._read_blocks(batch, flat, strict, jobs)
        result = points.to_result(flat)
        if out is None:
            return result
        out[...] = result
        return out

    def _read_blocks(
        self,
        batch: list[tuple[Block, npt.NDArray[Any]]],
        flat: npt.NDArray[Any],
        strict: bool,
        jobs: int,
    ) -> None:
        self._scale.read_many(
            [(*_box_of(block), _channels_of(block)) for block, _ in batch],
            [self._with_channel(array) for _, array in batch],
            strict,
            jobs,
        )
        for block, array in batch:
            flat[block.outside] = array[block.inside]

    def _put_points(self, points: Points, value: Any, jobs: int) -> None:
        flat = points.from_result(self._fitted(value, points.shape))
        for block in points.blocks(self._begin, (*self._masked_unit(), self.num_channels)):
            array = np.zeros(block.shape, self._dtype, order="F")
            mask = np.zeros(block.shape, np.uint8, order="F")
            array[block.inside] = flat[block.outside]
            mask[block.inside] = 1
            self._scale.write(
                _box_of(block)[0],
                _channels_of(block),
                self._with_channel(array),
                jobs,
                self._with_channel(mask),
            )

    def _masked_unit(self) -> list[int]:
        """The size of the boxes that are written at once: of shards, if that is not too large."""
        chunk = self.chunk_size
        try:
            unit = list(self._scale.write_unit)
        except NotImplementedError:
            return list(chunk)
        voxel = (self._dtype.itemsize + 1) * self.num_channels
        while math.prod(unit) * voxel > _MASKED_BYTES:
            d = max(range(3), key=lambda d: unit[d] // chunk[d])
            if unit[d] <= chunk[d]:
                break
            unit[d] = (unit[d] // chunk[d] + 1) // 2 * chunk[d]
        return unit

    def _empty(self, selection: Selection) -> npt.NDArray[Any]:
        return np.empty(selection.read_shape, self._dtype, order="F")

    def _with_channel(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array if self.ndim == 4 else array[..., np.newaxis]

    def _take(
        self,
        selection: Selection,
        missing: Missing = "zero",
        jobs: int = 0,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        strict = is_strict(missing)
        if out is None or not self._fits(selection, out):
            array = self._empty(selection)
            self._scale.read(selection.request, self._with_channel(array), strict, jobs)
            result = taken(array, selection)
            if out is None:
                return result
            out[...] = result
            return out
        whole = out[_spread(selection)]
        self._scale.read(selection.request, self._with_channel(whole), strict, jobs)
        return out

    def _fits(self, selection: Selection, out: npt.NDArray[Any]) -> bool:
        """Whether the box can be read straight into `out`; raises if `out` will not do."""
        self._check_out(selection.shape, out)
        return not selection.skips_channels

    def _check_out(self, shape: tuple[int, ...], out: npt.NDArray[Any]) -> None:
        if not isinstance(out, np.ndarray) or out.shape != shape:
            found = out.shape if isinstance(out, np.ndarray) else type(out).__name__
            raise ValueError(f"out: found {found}, expected an array of shape {shape}")
        if out.dtype != self._dtype:
            raise TypeError(f"out: found an array of {out.dtype}, expected {self._dtype}")
        if not out.flags.writeable:
            raise ValueError("out: the array is read-only")

    def _put(self, selection: Selection, value: Any, jobs: int = 0) -> None:
        array = self._fitted(value, selection.shape)[_spread(selection)]
        self._scale.write(selection.box, selection.channels, self._with_channel(array), jobs)

    def _fitted(self, value: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """What is assigned to a selection of this shape."""
        array = as_type(value, self._dtype)
        while array.ndim > len(shape) and array.shape[0] == 1:
            array = array[0]
        try:
            return np.broadcast_to(array, shape)
        except ValueError:
            raise ValueError(
                f"an array of shape {array.shape} does not fit a box of shape {shape}"
            ) from None


def is_strict(missing: str) -> bool:
    if missing not in ("zero", "error"):
        raise ValueError(f"missing: found {missing!r}, expected 'zero' or 'error'")
    return missing == "error"


def _box_of(block: Block) -> tuple[Box, Vector]:
    """Its corners, and steps."""
    return (block.begin[:3], block.end[:3]), (1, 1, 1)  # type: ignore[return-value]


def _channels_of(block: Block) -> tuple[int, int]:
    return (block.begin[3], block.end[3]) if len(block.begin) == 4 else (0, 1)


def taken(array: npt.NDArray[Any], selection: Selection) -> Any:
    """What was asked for, of what was read."""
    if all(order == slice(None, None, 1) for order in selection.order):
        return array
    result = array[selection.order]
    # What was read in vain is not kept in memory.
    return result if result.size == array.size else result.copy(order="F")


def _spread(selection: Selection) -> tuple[Any, ...]:
    """An index that gives an array of the result's shape the dimensions of the box again, and
    its directions."""
    return tuple(
        np.newaxis if isinstance(order, int) else slice(None, None, order.step)
        for order in selection.order
    )
