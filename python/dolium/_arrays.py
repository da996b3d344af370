"""Functions on arrays alone: what volumes do to their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._indexing import vector
from ._volume_arguments import Encoding, storage_options


def _four(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as x, y, z, channel in Fortran order and the byte order of the machine; copied
    only if it has others."""
    if array.ndim not in (3, 4):
        raise ValueError(f"found an array of {array.ndim} dimensions, expected x, y, z[, channel]")
    native = array.astype(array.dtype.newbyteorder("="), order="K", copy=False)
    return np.asfortranarray(native if native.ndim == 4 else native[..., np.newaxis])


def encode_chunk(
    array: npt.ArrayLike,
    encoding: Encoding,
    *,
    block_size: Sequence[int] | None = None,
    quality: int | None = None,
    png_level: int | None = None,
    level: int | None = None,
    effort: int | None = None,
) -> bytes:
    """The bytes of a chunk: an array [x, y, z] or [x, y, z, channel] in an encoding of volumes.

    Options are those of Volume.create().
    """
    four = _four(np.asarray(array))
    return _core.encode_chunk(four, four.shape, four.dtype.name, storage_options(locals()))


def decode_chunk(
    data: bytes | memoryview,
    shape: Sequence[int],
    dtype: npt.DTypeLike,
    encoding: Encoding,
    *,
    block_size: Sequence[int] | None = None,
) -> npt.NDArray[Any]:
    """The array of a chunk, in Fortran order and the byte order of the machine. The shape must be
    known, as volumes know it."""
    shape = tuple(shape)
    if len(shape) not in (3, 4):
        raise ValueError(f"found a shape of {len(shape)} numbers, expected x, y, z[, channel]")
    native = np.dtype(dtype).newbyteorder("=")
    array: npt.NDArray[Any] = np.empty(shape if len(shape) == 4 else (*shape, 1), native, order="F")
    _core.decode_chunk(data, array, array.shape, array.dtype.name, storage_options(locals()))
    return array if len(shape) == 4 else array[..., 0]


def downsample_array(
    array: npt.ArrayLike,
    factor: Sequence[int],
    method: Literal["average", "mode", "stride"] = "average",
    *,
    ignore_zero: bool = False,
) -> npt.NDArray[Any]:
    """A smaller array: each block of `factor` voxels becomes one. On one thread.

    "average" rounds halves to even, "mode" takes the most frequent label (of several the
    smallest; zero only if there is nothing else, with `ignore_zero`), "stride" the first voxel.
    Factors are 1 to 8.
    """
    x, y, z = vector("factor", factor)
    if not all(1 <= side <= 8 for side in (x, y, z)):
        raise ValueError(f"factor: found {(x, y, z)}, expected numbers from 1 to 8")
    array = np.asarray(array)
    four = _four(array)
    shape = (-(-four.shape[0] // x), -(-four.shape[1] // y), -(-four.shape[2] // z), four.shape[3])
    out: npt.NDArray[Any] = np.empty(shape, four.dtype, order="F")
    _core.downsample_array(
        four, four.shape, four.dtype.name, out, (x, y, z), method, ignore_zero
    )
    return out if array.ndim == 4 else out[..., 0]
