"""Volumes as numpy sees them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _meshes, _skeletons
from ._cache import AnyCache
from ._indexing import Vector, select, select_from_zero, text_of, vector
from ._meshes import Meshes
from ._points import has_arrays
from ._progress import Progress, shown
from ._reports import Finding, VerifyReport
from ._skeletons import Skeletons
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
from ._voxel_access import Box, Missing, VoxelAccess, is_strict, taken

Slices: TypeAlias = tuple[slice, slice, slice]

_DASK_BYTES = 64 << 20


class Volume(VoxelAccess):
    """One scale of a Precomputed volume, as an array [x, y, z], with the channel last if there
    are several.

        v = dolium.Volume.open("seg")            # or "https://host/seg"
        v[100:200, 50:80, 7]                     # a numpy array of shape (100, 30)
        v[100:200, 50:80, 7] = 0
        v.scale(2)[...]                          # all of a coarser scale

    Coordinates are absolute: they include the volume's offset, and negative numbers mean
    themselves. Ends that are left out are the bounds; what lies out of bounds is an IndexError,
    never clipped. An int drops its dimension. Steps may be any number but 0: with a negative one,
    v[20:10:-1] are the voxels 20, 19, ..., 11, and v[::-1] all, from the last. Chunks that have no
    voxel that is asked for are passed over. Arrays are in Fortran order: x is the fastest in memory.

    Indexes may also be arrays, with what numpy makes of them: v[[7, 3], [1, 2], 5] are two
    voxels, v[[7, 3], :, 5] two rows, arrays are broadcast together, and their dimensions come
    first if a slice stands between them. Integers in them are absolute, too, and negative ones do
    not count from the end. A mask, an array of booleans, has no coordinates: it is as large as the
    dimensions that it stands for, and its first number is for the first voxel. Only the chunks
    with such voxels are read.

    Assignment takes arrays of any order, numbers, and what broadcasts as in numpy, for all
    channels or some, to all of these indexes. Chunks that the box cuts, or of which other channels
    or voxels stay, are read, changed and written again, atomically for each shard (or chunk,
    without shards), and without loss if others write neighbouring boxes, voxels or channels
    meanwhile, from any thread or process. Of a voxel that arrays name twice, the last value stays.
    To write much, write whole shards(): each is then written just once.

    Other libraries count from 0: zero_based() is for them, and to_dask() for Dask.

    Reads and writes run on all cores, without the GIL, and Ctrl-C ends them between two chunks.
    Any thread may use a volume, and it can be pickled: by its location and scale, not with its
    voxels.
    """

    __slots__ = ()

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

        With `skip_damaged`, chunks that are damaged read as zero, and `skipped` lists them; out of
        damaged shards of an export what is whole is taken (`salvage` is its older name).
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
        png_level: int | None = None,
        level: int | None = None,
        effort: int | None = None,
        sharded: bool | None = None,
        shard_size: int | None = None,
        to_spec: Sharding | None = None,
        sharding: Sharding | None = None,
        gzip_files: bool = False,
        key: str | None = None,
        force: bool = False,
        _unfinished: bool = False,
    ) -> Volume:
        """Makes a new volume of one scale, all zero. dolium.volume.downsample() adds others.

        `shape` is x, y, z, and the number of channels if it is not given otherwise. `resolution`
        is in nanometres. `type` is segmentation for uint32 and uint64, else image. The encoding
        is one that loses nothing unless you choose another; `block_size` belongs to
        compressed_segmentation, `quality` to jpeg and jxl, `png_level` to png, `effort` to jxl.
        There are shards unless `sharded` is False or `gzip_files`, which stores each chunk as
        `<name>.gz`. They hold at most `shard_size` bytes of voxels (1 GiB) before these are
        encoded; `to_spec` says all of it instead. (`level` and `sharding` are older names of
        `png_level` and `to_spec`.) `key` names the folder of the scale.
        FileExistsError if there is a volume, unless `force`: then it is replaced, finished or
        not. A segmentation has one channel, of integers; else it is a ValueError.
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
            _unfinished,
        )
        return cls.open(location, gzip_files=gzip_files, unfinished=_unfinished)

    @classmethod
    def from_array(
        cls,
        location: Path,
        array: npt.ArrayLike,
        *,
        jobs: int = 0,
        progress: Progress | None = None,
        **options: Any,
    ) -> Volume:
        """Makes a new volume of one scale from an array [x, y, z], with the channel last if there
        are several. The options are those of create(), but for shape and num_channels; the type of
        the numbers is that of the array, unless `dtype` names one that it fits.

            v = dolium.Volume.from_array("em", array, resolution=(8, 8, 40))

        While it is being written, the volume carries a marker, and readers refuse it; what is left
        of a killed run is replaced with `force`. `progress` is called with voxels written, all of
        them, and bytes; True shows a bar on a terminal. dolium.volume.downsample() adds coarser
        scales, dolium.volume.ingest() makes volumes from files.
        """
        voxels = np.asanyarray(array)
        if voxels.ndim not in (3, 4):
            raise ValueError(f"array: found {voxels.ndim} dimensions, expected x, y, z (, channel)")
        if voxels.size == 0:
            raise ValueError(f"array: found shape {voxels.shape}, expected at least one voxel")
        for name in ("shape", "num_channels"):
            if name in options:
                raise TypeError(f"{name}: is that of the array")
        dtype = np.dtype(options.pop("dtype", voxels.dtype)).newbyteorder("=")
        if voxels.dtype != dtype:
            voxels = as_type(voxels, dtype)
        volume = cls.create(
            location,
            shape=voxels.shape[:3],
            num_channels=voxels.shape[3] if voxels.ndim == 4 else 1,
            dtype=dtype,
            _unfinished=True,
            **options,
        )
        if voxels.ndim == 4 and volume.ndim == 3:
            voxels = voxels[..., 0]
        try:
            boxes = [tuple(map(slice, *box)) for box in volume._zero_boxes()]
        except NotImplementedError:  # Shards that are no boxes.
            boxes = [(slice(None),) * 3]
        with shown(progress, "from_array") as advance:
            done = 0
            for box in boxes:
                part = voxels[box]
                volume._put(select_from_zero(box, volume._begin, volume._end), part, jobs)
                done += part.size
                if advance is not None:
                    advance(done, voxels.size, done * dtype.itemsize)
        _core.finish_volume(location)
        return cls.open(location, gzip_files=options.get("gzip_files", False))

    # --- what it is ---------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """The folder of the info, after redirects."""
        return self._scale.location

    @property
    def info(self) -> dict[str, Any]:
        """The info of the volume, of all its scales."""
        return json.loads(self._scale.info_text)

    def meshes(self) -> Meshes:
        """The meshes that the info names: what dolium.mesh.open() gives."""
        return _meshes.open(self.location)

    def skeletons(self) -> Skeletons:
        """The skeletons that the info names: what dolium.skeleton.open() gives."""
        return _skeletons.open(self.location)

    def verify(
        self,
        *,
        quick: bool = False,
        deep: bool = False,
        sample: float = 1.0,
        seed: int = 0,
        strict: bool = False,
        missing: bool = False,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> VerifyReport:
        """Checks all scales down to their voxels, and the other parts, opened as this volume was:
        see dolium.verify(). `progress` may be True: a bar on a terminal."""
        location, exported, cache = self._scale.opened
        with shown(progress, "verify") as advance:
            return _core.verify(
                location,
                quick=quick,
                deep=deep,
                sample=sample,
                seed=seed,
                strict=strict or missing,
                spec=exported["spec"],
                supervoxels=exported["supervoxels"],
                resolution=exported["resolution"],
                coordinates=exported["coordinates"],
                skip_damaged=exported["salvage"],
                cache=cache,
                jobs=jobs,
                progress=advance,
            )

    @property
    def skipped(self) -> list[Finding]:
        """The damaged chunks that reads of this volume, at any scale, have left out so far, if it
        was opened with skip_damaged."""
        return self._scale.skipped

    @property
    def scale_index(self) -> int:
        return self._scale.index

    @property
    def num_scales(self) -> int:
        return self._scale.num_scales

    def scale(
        self, index: int | None = None, *, resolution: Sequence[float] | None = None
    ) -> Volume:
        """The same volume at another scale: by its number, 0 is the finest, or by its
        resolution in nanometres, which must be that of one scale."""
        if (index is None) == (resolution is None):
            raise TypeError("scale: give a number, or a resolution")
        if resolution is not None:
            wanted = nanometres(resolution)
            sides = [nanometres(scale["resolution"]) for scale in self.info["scales"]]
            found = [i for i, side in enumerate(sides) if np.allclose(side, wanted, rtol=1e-6)]
            if len(found) != 1:
                raise IndexError(
                    f"{len(found) or 'no'} scales with a resolution of {wanted}; "
                    f"{self.location} has {', '.join(map(str, sides))}"
                )
            index = found[0]
        assert index is not None
        if not 0 <= index < self.num_scales:
            raise IndexError(f"no scale {index}; {self.location} has {self.num_scales}")
        return type(self)(self._scale.other(index))

    @property
    def shape(self) -> tuple[int, ...]:
        """x, y, z, and the number of channels if there are several."""
        return tuple(end - begin for begin, end in zip(self._begin, self._end))

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
    def encoding(self) -> str:
        return self._scale.encoding

    @property
    def sharding(self) -> _core.ShardingSpec | None:
        """None if every chunk is an object of its own."""
        return self._scale.sharding

    # --- reading and writing ------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return self._get(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._set(index, value)

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
        return self._get(_without_corners(box), False, missing, jobs, out)

    def read_many(
        self, boxes: Iterable[Any], *, missing: Missing = "zero", jobs: int = 0
    ) -> list[Any]:
        """What v[box] gives for each of the boxes, read together on threads."""
        indexes = [_without_corners(box) for box in boxes]
        if any(map(has_arrays, indexes)):
            return [self._get(index, False, missing, jobs) for index in indexes]
        selections = [select(index, self._begin, self._end) for index in indexes]
        arrays = [self._empty(selection) for selection in selections]
        self._scale.read_many(
            [selection.request for selection in selections],
            [self._with_channel(array) for array in arrays],
            is_strict(missing),
            jobs,
        )
        return [taken(array, selection) for array, selection in zip(arrays, selections)]

    def write(self, box: Any, value: Any, *, jobs: int = 0) -> None:
        """What v[box] = value does, with options; `box` and `jobs` are as for read()."""
        self._set(_without_corners(box), value, False, jobs)

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

    def _zero_boxes(self) -> Iterator[tuple[Vector, Vector]]:
        """Corners of the boxes of shards, counted from 0."""
        for box in self.shards():
            ends = [(s.start - b, s.stop - b) for s, b in zip(box, self._begin)]
            yield tuple(ends[d][0] for d in range(3)), tuple(ends[d][1] for d in range(3))  # type: ignore[misc]


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
        return self.volume._get(index, True)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.volume._set(index, value, True)

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


def _without_corners(box: Any) -> Any:
    """An index for a box that may be a pair of corners, three numbers each."""
    if not hasattr(box, "__len__") or len(box) != 2:
        return box
    if not all(hasattr(corner, "__len__") and np.ndim(corner) == 1 for corner in box):
        return box
    return tuple(map(slice, vector("box", box[0]), vector("box", box[1])))
