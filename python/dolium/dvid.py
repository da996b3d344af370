"""DVID exports: Arrow shards of label blocks.

    reader = dolium.dvid.ArrowShardReader("export/s0/0_0_0.arrow")
    reader.list_chunks()
    reader.get_chunk(3, 1, 0)                  # labels, supervoxels, the block as stored
    reader.voxels(3, 1, 0)                     # numpy, x, y, z

    table, index = dolium.dvid.read_shard_with_index("export/s0/0_0_0.arrow")

Every form that exporters have written is read: streams and files, any index or none, blocks with
zstd, gzip or lz4 around them. Coordinates are as they are stored: blocks of 64 voxels in what
DVID writes, voxels in Arrow files whose keys are all multiples of 64. The table needs pyarrow,
nothing else does. A whole export is a volume: dolium.Volume.open("export").
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from . import _core
from ._plans import DEFAULT_MEMORY, Plan
from ._progress import Progress
from ._reports import JobReport
from ._volume_arguments import Coordinates, Path, Spec, export_options

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-not-found,import-untyped]

__all__ = [
    "ArrowShardReader",
    "Chunk",
    "decode_block",
    "encode_block",
    "plan_write",
    "read_shard_with_index",
    "write",
    "write_shard",
]


class Chunk(TypedDict):
    """One row of a shard."""

    coordinates: tuple[int, int, int]
    labels: list[int]
    supervoxels: list[int]
    compressed_data: bytes  # the block as it is stored


class ArrowShardReader:
    """One shard, by the coordinates of its blocks. May be used from many threads, and pickled."""

    __slots__ = ("_shard", "filename")

    def __init__(
        self,
        filename: Path,
        *,
        coordinates: Coordinates = "auto",
        skip_damaged: bool = False,
        salvage: bool = False,
    ) -> None:
        """`coordinates` says what they count, where the file does not say. `skip_damaged` takes
        what is whole out of a file that DVID has damaged (`salvage` is its older name)."""
        self.filename = filename
        self._shard = _core.DvidShard(filename, coordinates, skip_damaged or salvage)

    @property
    def table(self) -> pyarrow.Table:
        """All rows, as Arrow has them: read again each time. Needs pyarrow, and a local file."""
        return _read_table(self._shard)

    @property
    def chunk_index(self) -> dict[str, int]:
        """The number of each row, by "x_y_z"."""
        return _index(self._shard)

    @property
    def in_voxels(self) -> bool:
        """Whether coordinates count voxels, not blocks."""
        return self._shard.in_voxels

    def __len__(self) -> int:
        return len(self._shard)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple) or len(key) != 3:
            return False
        try:
            return self._row(*key) is not None
        except TypeError:  # They are no numbers.
            return False

    def _row(self, x: int, y: int, z: int) -> tuple[bytes, bytes, bytes] | None:
        key = _key(x, y, z)
        return None if key is None else self._shard.row(key)

    def get_chunk(self, x: int, y: int, z: int) -> Chunk | None:
        """The row of a block; None if it is not there."""
        row = self._row(x, y, z)
        if row is None:
            return None
        labels, supervoxels, stored = row
        return {
            "coordinates": (x, y, z),
            "labels": np.frombuffer(labels, "<u8").tolist(),
            "supervoxels": np.frombuffer(supervoxels, "<u8").tolist(),
            "compressed_data": stored,
        }

    def list_chunks(self) -> list[tuple[int, int, int]]:
        """The coordinates of all blocks, in storage order."""
        return self._shard.keys()

    def get_labels_for_chunk(self, x: int, y: int, z: int) -> list[int] | None:
        """The agglomerated labels of a block; None if it is not there."""
        row = self._row(x, y, z)
        return None if row is None else np.frombuffer(row[0], "<u8").tolist()

    def block(self, x: int, y: int, z: int) -> bytes | None:
        """The label block, with nothing around it; None if it is not there."""
        key = _key(x, y, z)
        return None if key is None else self._shard.block(key)

    def voxels(
        self, x: int, y: int, z: int, labels: bool = True
    ) -> npt.NDArray[np.uint64] | None:
        """The voxels of a block, x, y, z; supervoxels if not `labels`. None if it is not there."""
        key = _key(x, y, z)
        if key is None:
            return None
        array = np.empty((64, 64, 64, 1), np.uint64, order="F")
        return array[..., 0] if self._shard.voxels(key, labels, array) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, self._shard.__reduce__()[1]

    def __repr__(self) -> str:
        return f"<ArrowShardReader {os.fspath(self.filename)!r}, {len(self)} blocks>"


def _key(x: int, y: int, z: int) -> tuple[int, int, int] | None:
    """Coordinates as the engine takes them; None if no block can have them."""
    key = operator.index(x), operator.index(y), operator.index(z)
    return key if all(-(2**31) <= at < 2**31 for at in key) else None


def _reopen(filename: Path, coordinates: Coordinates, salvage: bool) -> ArrowShardReader:
    return ArrowShardReader(filename, coordinates=coordinates, salvage=salvage)


def read_shard_with_index(filename: Path) -> tuple[pyarrow.Table, dict[str, int]]:
    """All rows as an Arrow table, and the number of each by its coordinates, "x_y_z". Needs
    pyarrow, and a local file."""
    shard = _core.DvidShard(filename)
    return _read_table(shard), _index(shard)


def _index(shard: _core.DvidShard) -> dict[str, int]:
    return {f"{x}_{y}_{z}": number for number, (x, y, z) in enumerate(shard.keys())}


def _read_table(shard: _core.DvidShard) -> pyarrow.Table:
    import pyarrow.ipc  # type: ignore[import-not-found,import-untyped]

    # Without the footer behind it, which Arrow would take for its own.
    data = pyarrow.memory_map(shard.location).read_buffer(shard.arrow_bytes)
    open_ipc = pyarrow.ipc.open_file if shard.is_file else pyarrow.ipc.open_stream
    with open_ipc(pyarrow.BufferReader(data)) as reader:
        return reader.read_all()


def encode_block(array: npt.ArrayLike) -> bytes:
    """A label block of an array of labels, x, y, z, with sides of 16 to 1024 voxels that are
    multiples of 8. Equal arrays give equal bytes."""
    voxels = np.asarray(array)
    if voxels.ndim != 3 or voxels.dtype.kind not in "iu":
        raise ValueError(
            f"found {voxels.ndim} dimensions of {voxels.dtype}, expected three of integers"
        )
    dense = np.asfortranarray(voxels.astype(np.uint64, copy=False))[..., np.newaxis]
    return _core.encode_dvid_block(dense, voxels.shape)


def decode_block(
    data: bytes, labels: npt.ArrayLike | None = None
) -> npt.NDArray[np.uint64]:
    """The voxels of a label block, x, y, z. With `labels`, one for each of the block's own list,
    they are these instead."""
    shape = tuple(_core.dvid_block_shape(data))
    array = np.empty((*shape, 1), np.uint64, order="F")
    other = None if labels is None else np.ascontiguousarray(labels, "<u8").tobytes()
    _core.decode_dvid_block(data, array, other)
    return array[..., 0]


def write_shard(
    filename: Path,
    rows: Iterable[tuple[Sequence[int], npt.ArrayLike, npt.ArrayLike, bytes, int]],
    *,
    layout: Literal["stream", "seed"] = "stream",
    csv: Literal["documented", "dvid"] = "documented",
    rows_per_batch: int = 1,
) -> int:
    """Writes one shard, and its index, of rows: block coordinates, labels, supervoxels, the block
    as it is to be stored (with zstd around it in streams, plain in the seed's layout), and its
    size without that. Rows equal to DVID's give a file equal to DVID's. Returns the bytes
    written."""
    return _core.write_dvid_shard(
        filename,
        (
            (
                tuple(map(int, key)),
                np.ascontiguousarray(labels, "<u8").tobytes(),
                np.ascontiguousarray(supervoxels, "<u8").tobytes(),
                stored,
                size,
            )
            for key, labels, supervoxels, stored, size in rows
        ),
        layout,
        csv,
        rows_per_batch,
    )


def write(
    source: Path,
    target: Path,
    *,
    scales: list[int] | None = None,
    layout: Literal["stream", "seed"] = "stream",
    csv: Literal["documented", "dvid"] = "documented",
    shard_side: int = 2048,
    spec: Spec | None = None,
    resolution: Sequence[float] | None = None,
    coordinates: Coordinates = "auto",
    skip_damaged: bool = False,
    salvage: bool = False,
    force: bool = False,
    memory: int = DEFAULT_MEMORY,
    jobs: int = 0,
    progress: Progress | None = None,
) -> JobReport:
    """Writes an export from a volume of labels, or from another export, with a file for each cube
    of `shard_side` voxels, and a `spec.json` with sizes and resolutions. `spec` to `salvage` are
    for a source that is an export, as in Volume.open(). What is stopped and asked for again
    resumes. Parts are cubes in which the source has anything, labels or not; entries are blocks.
    """
    plan = plan_write(
        source,
        target,
        scales=scales,
        layout=layout,
        csv=csv,
        shard_side=shard_side,
        spec=spec,
        resolution=resolution,
        coordinates=coordinates,
        skip_damaged=skip_damaged,
        salvage=salvage,
        force=force,
    )
    return plan.run(memory=memory, jobs=jobs, progress=progress)


def plan_write(
    source: Path,
    target: Path,
    *,
    scales: list[int] | None = None,
    layout: Literal["stream", "seed"] = "stream",
    csv: Literal["documented", "dvid"] = "documented",
    shard_side: int = 2048,
    spec: Spec | None = None,
    resolution: Sequence[float] | None = None,
    coordinates: Coordinates = "auto",
    skip_damaged: bool = False,
    salvage: bool = False,
    force: bool = False,
) -> Plan:
    """Plans what write() does, with the same options: tasks that any process may run."""
    return _core.plan_dvid_export(
        source,
        target,
        scales or [],
        layout,
        csv,
        shard_side,
        export_options(locals()),
        force,
    )
