"""Volumes as numpy sees them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core
from ._cache import AnyCache
from ._indexing import Selection, Vector, select, select_from_zero, text_of, vector
from ._reports import VerifyReport
from ._volume_arguments import (
    Coordinates,
    Encoding,
    Path,
    Sharding,
    Spec,
    VolumeType,
    as_type,
    export_options,
    type_name,
    nanometres,
    storage_options,
)

Box: TypeAlias = tuple[Vector, Vector]
Slices: TypeAlias = tuple[slice, slice, slice]
Missing: TypeAlias = Literal["zero", "error"]

_DASK_BYTES = 64 << 20


class Volume:
    """One scale of a Precomputed volume, as an array [x, y, z], with the channel last if there
    are several.

        v = dolium.Volume.open("seg")            # or "https://host/seg"
        v[100:200, 50:80, 7]                     # a numpy array of shape (100, 30)
        v[100:200, 50:80, 7] = 0
        v.scale(2)[...]                          # all of a coarser scale

    Coordinates are absolute: they include the volume's offset, and negative numbers mean
    themselves. Ends that are left out are the bounds; what lies out of bounds is an IndexError,
    never clipped. An int drops its dimension. Reads allow steps, and pass over chunks that have no
    voxel of theirs. Arrays are in Fortran order: x is the fastest in memory.

    Assignment takes arrays of any order, numbers, and what broadcasts as in numpy, for all
    channels or some. Chunks that the box cuts, or of which other channels stay, are read, changed
    and written again, atomically for each shard (or chunk, without shards), and without loss if
    others write neighbouring boxes or channels meanwhile, from any thread or process. To write
    much, write whole shards(): each is then written just once.

    Other libraries count from 0: zero_based() is for them, and to_dask() for Dask.

    Reads and writes run on all cores, without the GIL, and Ctrl-C ends them between two chunks.
    Any thread may use a volume, and it can be pickled: by its location and scale, not with its
    voxels.
    """

    __slots__ = ("_scale", "_dtype", "_begin", "_end")

    def __init__(self, scale: _core.VolumeScale) -> None:
        """Use open() or create()."""
        self._scale = scale
        self._dtype = np.dtype(scale.data_type)
        begin, end = scale.bounds
        channels = scale.num_channels
        # As indexes have them: with the channel if there are several.
        self._begin: tuple[int, ...] = (*begin, 0) if channels > 1 else tuple(begin)
        self._end: tuple[int, ...] = (*end, channels) if channels > 1 else tuple(end)

    @classmethod
    def open(
        cls,
        location: Path,
        *,
        scale: int = 0,
        unfinished: bool = False,
        gzip_files: bool = False,
        cache_bytes: int = 64 << 20,
        supervoxels: bool = False,
        spec: Spec | None = None,
        resolution: Sequence[float] | None = None,
        coordinates: Coordinates = "auto",
        skip_damaged: bool = False,
        salvage: bool = False,
        cache: AnyCache | None = None,
    ) -> Volume:
        """Opens a volume by the folder of its info, or a DVID export as a volume that can be
        read.

        `unfinished` allows one that is still being written. `gzip_files` has new chunks of a
        volume without shards stored as `<name>.gz`. `cache_bytes` bounds the indexes of shards
        that are kept in memory. `cache` keeps on disk what is read from a remote location: a
        dolium.Cache, a folder, or text as `--cache` takes it.

        Of an export, `supervoxels` gives these instead of labels, and `spec` is what it was made
        with (text, dict or file; by default its `spec.json`); without one, `resolution` is that of
        scale 0. `coordinates` says what the keys of blocks count, where files do not say.
        `skip_damaged` takes what is whole out of shards that are damaged; damaged blocks are zero
        (`salvage` is its older name).
        """
        exported = export_options(locals())
        return cls(
            _core.VolumeScale(
                location, scale, unfinished, gzip_files, cache_bytes, exported, cache
            )
        )

    @classmethod
    def create(
        cls,
        location: Path,
        *,
        shape: Sequence[int],
        dtype: npt.DTypeLike,
        resolution: Sequence[float] = (1, 1, 1),
        offset: Sequence[int] = (0, 0, 0),
        num_channels: int | None = None,
        type: VolumeType | None = None,
        chunk_size: Sequence[int] = (64, 64, 64),
        encoding: Encoding | None = None,
        block_size: Sequence[int] | None = None,
        quality: int | None = None,
        level: int | None = None,
        effort: int | None = None,
        sharded: bool | None = None,
        shard_size: int | None = None,
        sharding: Sharding | None = None,
        gzip_files: bool = False,
        key: str | None = None,
        force: bool = False,
    ) -> Volume:
        """Makes a new volume of one scale, all zero. dolium.volume.downsample() adds others.

        `shape` is x, y, z, and the number of channels if it is not given otherwise. `resolution`
        is in nanometres. `type` is segmentation for uint32 and uint64, else image. The encoding
        is one that loses nothing unless you choose another; `block_size` belongs to
        compressed_segmentation, `quality` to jpeg and jxl, `level` to png, `effort` to jxl.
        There are shards unless `sharded` is False or `gzip_files`, which stores each chunk as
        `<name>.gz`. They hold at most `shard_size` bytes of voxels (1 GiB) before these are
        encoded; `sharding` says all of it instead. `key` names the folder of the scale.
        FileExistsError if there is a volume, unless `force`: then it is replaced, finished or
        not.
        """
        if len(shape) == 4:
            if num_channels not in (None, shape[3]):
                raise ValueError(f"a shape of {shape[3]} channels, but num_channels {num_channels}")
            num_channels = shape[3]
        _core.create_volume(
            location,
            type_name(dtype),
            1 if num_channels is None else num_channels,
            vector("shape", shape[:3] if len(shape) == 4 else shape),
            vector("offset", offset),
            nanometres(resolution),
            type,
            key,
            storage_options(locals()),
            force,
        )
        return cls.open(location, gzip_files=gzip_files)

    # --- what it is ---------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """The folder of the info, after redirects."""
        return self._scale.location

    @property
    def info(self) -> dict[str, Any]:
        """The info of the volume, of all its scales."""
        return json.loads(self._scale.info_text)

    def verify(
        self,
        *,
        quick: bool = False,
        sample: float = 1.0,
        seed: int = 0,
        missing: bool = False,
        jobs: int = 0,
        progress: Any = None,
    ) -> VerifyReport:
        """Checks all scales down to their voxels, and the other parts: see dolium.verify()."""
        return _core.verify(
            self.location,
            quick=quick,
            sample=sample,
            seed=seed,
            missing=missing,
            jobs=jobs,
            progress=progress,
        )

    @property
    def scale_index(self) -> int:
        return self._scale.index

    @property
    def num_scales(self) -> int:
        return self._scale.num_scales

    def scale(self, index: int) -> Volume:
        """The same volume at another scale; 0 is the finest."""
        if not 0 <= index < self.num_scales:
            raise IndexError(f"no scale {index}; {self.location} has {self.num_scales}")
        return type(self)(self._scale.other(index))

    @property
    def shape(self) -> tuple[int, ...]:
        """x, y, z, and the number of channels if there are several."""
        return tuple(end - begin for begin, end in zip(self._begin, self._end))

    @property
    def ndim(self) -> int:
        return len(self._begin)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self._dtype.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def num_channels(self) -> int:
        return self._scale.num_channels

    @property
    def bounds(self) -> Box:
        """The first voxel, and the one past the last: ((x0, y0, z0), (x1, y1, z1))."""
        return self._scale.bounds

    @property
    def offset(self) -> Vector:
        """The first voxel."""
        return self.bounds[0]

    @property
    def voxel_offset(self) -> Vector:
        """The same, by the name that the info has for it."""
        return self.bounds[0]

    @property
    def resolution(self) -> tuple[float, float, float]:
        """Nanometres from one voxel to the next, in x, y and z."""
        return self._scale.resolution

    @property
    def chunk_size(self) -> Vector:
        return self._scale.chunk_size

    @property
    def encoding(self) -> str:
        return self._scale.encoding

    @property
    def sharding(self) -> _core.ShardingSpec | None:
        """None if every chunk is an object of its own."""
        return self._scale.sharding

    # --- reading and writing ------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return self._take(select(index, self._begin, self._end))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._put(select(index, self._begin, self._end), value)

    def read(
        self,
        box: Any = ...,
        *,
        missing: Missing = "zero",
        jobs: int = 0,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        """What v[box] gives, with options.

        `box` is what may stand between brackets (numpy.s_ makes it), or a pair of corners as in
        `bounds`. Where chunks are not stored voxels are zero, or (missing="error") a KeyError is
        raised. `jobs` is the number of threads, 0 for one per core. `out` is an array of the
        box's shape to be filled in place, of any strides; it is also returned.
        """
        return self._take(self._select(box), missing, jobs, out)

    def read_many(
        self, boxes: Iterable[Any], *, missing: Missing = "zero", jobs: int = 0
    ) -> list[Any]:
        """What v[box] gives for each of the boxes, read together on threads."""
        selections = [self._select(box) for box in boxes]
        arrays = [self._empty(selection) for selection in selections]
        self._scale.read_many(
            [selection.request for selection in selections],
            [self._with_channel(array) for array in arrays],
            _is_strict(missing),
            jobs,
        )
        return [_taken(array, selection) for array, selection in zip(arrays, selections)]

    def write(self, box: Any, value: Any, *, jobs: int = 0) -> None:
        """What v[box] = value does, with options; `box` and `jobs` are as for read()."""
        self._put(self._select(box), value, jobs)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """The whole scale."""
        if copy is False:
            raise ValueError("a volume becomes an array by being read, which is a copy")
        array = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    # --- for bulk work ------------------------------------------------------------------------

    def chunks(self) -> Iterator[Slices]:
        """The boxes of the stored chunks, as indexes; x goes fastest."""
        return self._boxes(self.chunk_size)

    def shards(self) -> Iterator[Slices]:
        """The boxes of the shards, as indexes; without shards, of blocks of some hundred chunks.
        x goes fastest. Writers that take one each do not get into each other's way.
        NotImplementedError if the shards are no boxes."""
        return self._boxes(self._scale.write_unit)

    def zero_based(self) -> VolumeArray:
        """The same voxels with indexes as numpy has them, for other libraries."""
        return VolumeArray(self)

    @property
    def dask_chunks(self) -> tuple[tuple[int, ...], ...]:
        """Sizes of blocks for dask.array.from_array(): whole stored chunks, 64 MiB at most unless
        a chunk is larger."""
        shape = self.shape[:3]
        voxel = self._dtype.itemsize * self.num_channels
        block = list(self.chunk_size)
        while True:
            growing = [d for d in range(3) if block[d] < shape[d]]
            if not growing or 2 * math.prod(block) * voxel > _DASK_BYTES:
                break
            block[min(growing, key=lambda d: block[d])] *= 2
        blocks: list[tuple[int, ...]] = []
        for size, step in zip(shape, block):
            blocks.append(tuple(min(step, size - at) for at in range(0, size, step)) or (0,))
        if self.ndim == 4:
            blocks.append((self.num_channels,))
        return tuple(blocks)

    def to_dask(self, chunks: Any = None) -> Any:
        """A dask.array of the volume, which reads when it is computed. `chunks` are dask_chunks
        unless you choose others. Index 0 of it is the volume's offset."""
        import dask.array

        return dask.array.from_array(
            self.zero_based(), chunks=self.dask_chunks if chunks is None else chunks, fancy=False
        )

    # --- the rest -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    # Iteration by v[0], v[1], ... would begin out of bounds, and decode every chunk many times.
    __iter__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._scale,)

    def __repr__(self) -> str:
        form = self.encoding if self.sharding is None else f"{self.encoding}, sharded"
        resolution = " x ".join(f"{side:g}" for side in self.resolution)
        return (
            f"<dolium.Volume {self.location!r}, scale {self.scale_index} of {self.num_scales}: "
            f"{self._dtype} [{text_of(self._begin, self._end)}], {resolution} nm, {form}>"
        )

    def _boxes(self, size: Vector) -> Iterator[Slices]:
        """Boxes of this size that lie side by side and fill the bounds, where they are cut."""
        begin, end = self.bounds
        xs, ys, zs = map(range, begin, end, size)
        for z in zs:
            for y in ys:
                for x in xs:
                    yield (
                        slice(x, min(x + size[0], end[0])),
                        slice(y, min(y + size[1], end[1])),
                        slice(z, min(z + size[2], end[2])),
                    )

    def _select(self, box: Any) -> Selection:
        if _is_pair_of_corners(box):
            box = tuple(map(slice, vector("box", box[0]), vector("box", box[1])))
        return select(box, self._begin, self._end)

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
        strict = _is_strict(missing)
        if out is None or not self._fits(selection, out):
            array = self._empty(selection)
            self._scale.read(selection.request, self._with_channel(array), strict, jobs)
            result = _taken(array, selection)
            if out is None:
                return result
            out[...] = result
            return out
        whole = out[_spread(selection)]
        self._scale.read(selection.request, self._with_channel(whole), strict, jobs)
        return out

    def _fits(self, selection: Selection, out: npt.NDArray[Any]) -> bool:
        """Whether the box can be read straight into `out`; raises if `out` will not do."""
        if not isinstance(out, np.ndarray) or out.shape != selection.shape:
            found = out.shape if isinstance(out, np.ndarray) else type(out).__name__
            raise ValueError(f"out: found {found}, expected an array of shape {selection.shape}")
        if out.dtype != self._dtype:
            raise TypeError(f"out: found an array of {out.dtype}, expected {self._dtype}")
        if not out.flags.writeable:
            raise ValueError("out: the array is read-only")
        return not selection.skips_channels

    def _put(self, selection: Selection, value: Any, jobs: int = 0) -> None:
        if selection.has_steps:
            raise IndexError("a box can be assigned to only with a step of 1")
        array = as_type(value, self._dtype)
        shape = selection.shape
        while array.ndim > len(shape) and array.shape[0] == 1:
            array = array[0]
        try:
            array = np.broadcast_to(array, shape)
        except ValueError:
            raise ValueError(
                f"an array of shape {array.shape} does not fit a box of shape {shape}"
            ) from None
        array = array[_spread(selection)]
        self._scale.write(selection.box, selection.channels, self._with_channel(array), jobs)


class VolumeArray:
    """A volume with indexes as numpy has them: from 0, negative numbers from the end, slices
    clipped. What Volume.zero_based() gives, for libraries that take anything like an array:
    shape, dtype, ndim, chunks and brackets."""

    __slots__ = ("volume",)

    def __init__(self, volume: Volume) -> None:
        self.volume = volume

    @property
    def shape(self) -> tuple[int, ...]:
        return self.volume.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.volume.dtype

    @property
    def ndim(self) -> int:
        return self.volume.ndim

    @property
    def size(self) -> int:
        return self.volume.size

    @property
    def nbytes(self) -> int:
        return self.volume.nbytes

    @property
    def chunks(self) -> tuple[int, ...]:
        """The size of a stored chunk in each dimension."""
        return (*self.volume.chunk_size, *self.shape[3:])

    def __getitem__(self, index: Any) -> Any:
        return self.volume._take(self._select(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.volume._put(self._select(index), value)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """The whole scale."""
        return self.volume.__array__(dtype, copy)

    def __len__(self) -> int:
        return len(self.volume)

    __iter__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.volume,)

    def __repr__(self) -> str:
        return f"<dolium.VolumeArray {self.shape} of {self.volume!r}>"

    def _select(self, index: Any) -> Selection:
        return select_from_zero(index, self.volume._begin, self.volume._end)


def _is_strict(missing: str) -> bool:
    if missing not in ("zero", "error"):
        raise ValueError(f"missing: found {missing!r}, expected 'zero' or 'error'")
    return missing == "error"


def _is_pair_of_corners(box: Any) -> bool:
    return hasattr(box, "__len__") and len(box) == 2 and all(hasattr(c, "__len__") for c in box)


def _taken(array: npt.NDArray[Any], selection: Selection) -> Any:
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
