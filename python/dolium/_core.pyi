"""The engine of the package dolium: use it by way of that."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

import numpy.typing as npt
from typing_extensions import Buffer, Self

from ._reports import (
    ConvertReport,
    Entry,
    Plan,
    StatsReport,
    TaskReport,
    VerifyReport,
    VolumeReport,
    WriteSummary,
)

_Default = TypeVar("_Default")
_Item = TypeVar("_Item", covariant=True)

_Key: TypeAlias = int | str
_Path: TypeAlias = str | os.PathLike[str]
_Spec: TypeAlias = ShardingSpec | dict[str, Any] | str | os.PathLike[str]
_Hash: TypeAlias = Literal["identity", "murmurhash3_x86_128"]
_Encoding: TypeAlias = Literal["raw", "gzip"]
_Vector: TypeAlias = tuple[int, int, int]
_Box: TypeAlias = tuple[_Vector, _Vector]
# Told of entries done, all entries (0: not known) and bytes. What it raises stops the work.
_Progress: TypeAlias = Callable[[int, int, int], object]

__version__: str

class Error(Exception):
    """What only dolium raises."""

class CorruptError(Error):
    """The bytes contradict the format or a checksum."""

class ConflictError(Error, OSError):
    """An object was replaced, again and again, while it was used."""

class ShardingSpec:
    """How a Neuroglancer set spreads chunk ids over shards and minishards. Immutable."""

    def __init__(
        self,
        preshift_bits: int,
        minishard_bits: int,
        shard_bits: int,
        hash: _Hash = "murmurhash3_x86_128",
        minishard_index_encoding: _Encoding = "gzip",
        data_encoding: _Encoding = "raw",
    ) -> None: ...
    @property
    def preshift_bits(self) -> int: ...
    @property
    def minishard_bits(self) -> int: ...
    @property
    def shard_bits(self) -> int: ...
    @property
    def hash(self) -> _Hash: ...
    @property
    def minishard_index_encoding(self) -> _Encoding: ...
    @property
    def data_encoding(self) -> _Encoding: ...
    def place(self, id: _Key) -> tuple[int, int]:
        """The numbers of the shard and the minishard that hold a chunk."""

    def shard_name(self, shard: int) -> str:
        """The file name of a shard."""

    def to_json(self) -> str:
        """The `sharding` member of an info file, as text."""

    def to_dict(self) -> dict[str, Any]:
        """The `sharding` member of an info file, as a dict."""

    @staticmethod
    def from_json(spec: _Spec) -> ShardingSpec:
        """From what to_json() or to_dict() gave, or a file of it."""

    def __eq__(self, arg: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def choose_sharding(
    entries: int,
    bytes: int,
    *,
    hash: _Hash = "murmurhash3_x86_128",
    minishard_index_encoding: _Encoding = "gzip",
    data_encoding: _Encoding = "raw",
    largest_id: int = 0,
    shard_size: int = 1 << 30,
) -> ShardingSpec:
    """A spec for a set of so many entries, which take so many bytes as stored: shards of about
    `shard_size` bytes, minishards of about a thousand entries. The identity hash needs
    `largest_id`."""

class EntryIterator(Generic[_Item]):
    """What Container.keys() and Container.items() give."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> _Item: ...

class Container:
    """A set of entries, as a mapping from keys to bytes: what dolium.open() gives. Keys are ints
    for chunks (str is taken as well), else str. Any thread may use it."""

    def __init__(
        self,
        location: _Path,
        sharding: _Spec | None = None,
        format: str | None = None,
        unfinished: bool = False,
        cache_bytes: int = 256 << 20,
    ) -> None: ...
    @property
    def location(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def sharding(self) -> ShardingSpec | None:
        """The ShardingSpec; None for other formats."""

    @property
    def info(self) -> dict[str, str]:
        """What the format tells about the set."""

    def __getitem__(self, key: _Key, /) -> bytes: ...
    def __setitem__(self, key: _Key, value: Buffer, /) -> None: ...
    def __delitem__(self, key: _Key, /) -> None: ...
    def __contains__(self, key: _Key, /) -> bool: ...
    def __iter__(self) -> EntryIterator[Any]: ...
    def __len__(self) -> int:
        """Counts the entries, by a scan of the index."""

    def __bool__(self) -> bool: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @overload
    def get(self, key: _Key, default: None = None) -> bytes | None:
        """The value of a key, or the default."""

    @overload
    def get(self, key: _Key, default: _Default) -> bytes | _Default: ...
    def get_many(self, keys: Iterable[_Key]) -> list[bytes | None]:
        """The values of many keys, read together; None for those that are absent."""

    def find(self, key: _Key) -> Entry | None:
        """Where an entry lies and what it takes; None if it is absent."""

    @overload
    def read(
        self, key: _Key, *, raw: bool = False, preceding: Literal[False] = False
    ) -> bytes:
        """The value of a key, decoded or (raw) as stored; with `preceding`, a pair of it and the
        bytes that precede it."""

    @overload
    def read(
        self, key: _Key, *, raw: bool = False, preceding: Literal[True]
    ) -> tuple[bytes, bytes]: ...
    def put(self, key: _Key, data: Buffer, *, preceding: Buffer = b"") -> None:
        """Adds or replaces an entry: an atomic rewrite of the shard that holds it."""

    def update(self, items: Mapping[Any, Buffer] | Iterable[tuple[_Key, Buffer]]) -> None:
        """Adds or replaces the entries of a mapping, or pairs of key and value. Each object they
        touch is rewritten once, atomically."""

    def remove(self, keys: _Key | Iterable[_Key]) -> None:
        """Removes one key or many. KeyError, before anything is changed, if one is absent."""

    def keys(self) -> EntryIterator[Any]:
        """An iterator over the keys, in storage order."""

    def items(self) -> EntryIterator[tuple[Any, bytes]]:
        """An iterator over pairs of key and value, in storage order; reads ahead."""

    def verify(
        self,
        *,
        quick: bool = False,
        sample: float = 1.0,
        seed: int = 0,
        jobs: int = 0,
        progress: _Progress | None = None,
    ) -> VerifyReport:
        """Checks the index and reads every entry, or (quick) none, or a random part of them.
        Damage is reported, not raised."""

    def stats(self, *, jobs: int = 0, progress: _Progress | None = None) -> StatsReport:
        """Counts and sizes, from the index alone."""

class ShardedWriter:
    """Writes a sharded set, chunks in any order, in bounded memory. A context manager: the set is
    complete when the block ends, and stays unfinished if it raises."""

    def __init__(
        self,
        location: _Path,
        spec: _Spec | None,
        *,
        force: bool = False,
        memory: int = 256 << 20,
        jobs: int = 0,
        info: dict[str, Any] | _Path | None = None,
        spill_folder: _Path | None = None,
    ) -> None: ...
    @property
    def summary(self) -> WriteSummary | None:
        """What finish() returned; None before."""

    def add(self, id: _Key, data: Buffer, preceding: Buffer = b"") -> None:
        """Adds a chunk. The bytes are copied; `preceding` is written right before them, never
        encoded."""

    def finish(self) -> WriteSummary:
        """Completes the set."""

    def abandon(self) -> None:
        """Gives up; the set stays unfinished."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool: ...

def write_sharded(
    location: _Path,
    spec: _Spec | None,
    items: (
        Mapping[Any, Buffer] | Iterable[tuple[_Key, Buffer] | tuple[_Key, Buffer, Buffer]] | None
    ) = None,
    *,
    ids: Iterable[_Key] | None = None,
    values: Buffer | Sequence[Buffer] | None = None,
    force: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    info: dict[str, Any] | _Path | None = None,
    spill_folder: _Path | None = None,
    progress: _Progress | None = None,
) -> WriteSummary:
    """Writes a sharded set from a dict, from any iterable of (id, bytes) or (id, bytes,
    preceding), or from `ids` and `values` (a two-dimensional array: one row each; or a
    sequence)."""

def convert(
    source: _Path,
    target: _Path,
    *,
    to: str | None = None,
    format: str | None = None,
    sharding: _Spec | None = None,
    from_sharding: _Spec | None = None,
    shard_size: int | None = None,
    hash: _Hash | None = None,
    minishard_index_encoding: _Encoding | None = None,
    data_encoding: _Encoding | None = None,
    preshift_bits: int | None = None,
    minishard_bits: int | None = None,
    shard_bits: int | None = None,
    force: bool = False,
    skip_damaged: bool = False,
    unfinished: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    progress: _Progress | None = None,
) -> ConvertReport:
    """Converts one set into another, on threads. `to` and `format` name the formats of the target
    and the source, `sharding` and `from_sharding` their specs; the rest says how the target
    differs from what it would be. A rerun resumes what was cut short."""

def plan_convert(
    source: _Path,
    target: _Path,
    *,
    to: str | None = None,
    format: str | None = None,
    sharding: _Spec | None = None,
    from_sharding: _Spec | None = None,
    shard_size: int | None = None,
    hash: _Hash | None = None,
    minishard_index_encoding: _Encoding | None = None,
    data_encoding: _Encoding | None = None,
    preshift_bits: int | None = None,
    minishard_bits: int | None = None,
    shard_bits: int | None = None,
    force: bool = False,
    skip_damaged: bool = False,
    unfinished: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    progress: _Progress | None = None,
) -> Plan:
    """Prepares a conversion as a Plan: tasks that any process may run. The options are those of
    convert()."""

def run_task(
    task: str,
    *,
    memory: int = 256 << 20,
    jobs: int = 1,
    progress: _Progress | None = None,
) -> TaskReport: ...
def finish_plan(target: _Path, parts_done: int = 0) -> ConvertReport: ...

class VolumeScale:
    """One scale of a volume: what dolium.Volume reads and writes by. Boxes are pairs of corners,
    arrays have four dimensions."""

    def __init__(
        self,
        location: _Path,
        scale: int = 0,
        unfinished: bool = False,
        gzip_files: bool = False,
        cache_bytes: int = 64 << 20,
    ) -> None: ...
    def other(self, scale: int) -> VolumeScale:
        """Another scale of the same volume."""

    def read(self, box: _Box, array: npt.NDArray[Any], strict: bool, jobs: int) -> None:
        """Fills an array with a box."""

    def read_many(
        self, boxes: Sequence[_Box], arrays: list[npt.NDArray[Any]], strict: bool, jobs: int
    ) -> None:
        """Fills an array for each box."""

    def write(self, box: _Box, array: npt.NDArray[Any], jobs: int) -> None:
        """Replaces a box by an array."""

    @property
    def location(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def num_scales(self) -> int: ...
    @property
    def info_text(self) -> str:
        """The info, as JSON."""

    @property
    def data_type(self) -> str: ...
    @property
    def num_channels(self) -> int: ...
    @property
    def bounds(self) -> _Box: ...
    @property
    def resolution(self) -> tuple[float, float, float]: ...
    @property
    def chunk_size(self) -> _Vector: ...
    @property
    def write_unit(self) -> _Vector:
        """The size of a shard's box in voxels; without shards, of a block of chunks."""

    @property
    def encoding(self) -> str: ...
    @property
    def sharding(self) -> ShardingSpec | None: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def create_volume(
    location: _Path,
    data_type: str,
    num_channels: int,
    size: _Vector,
    offset: _Vector,
    resolution: tuple[float, float, float],
    type: str | None,
    key: str | None,
    storage: dict[str, Any],
    force: bool,
) -> None: ...
def plan_volume_ingest(
    source: dict[str, Any],
    target: _Path,
    type: str | None,
    resolution: tuple[float, float, float],
    offset: _Vector,
    storage: dict[str, Any],
    pyramid: dict[str, Any],
    force: bool,
) -> dict[str, Any]: ...
def plan_volume_downsample(
    volume: _Path, from_scale: int | None, storage: dict[str, Any], pyramid: dict[str, Any]
) -> dict[str, Any]: ...
def plan_volume_transcode(
    source: _Path, target: _Path, scales: Sequence[int], storage: dict[str, Any], force: bool
) -> dict[str, Any]: ...
def run_volume_task(
    task: str, memory: int, jobs: int, progress: _Progress | None
) -> WriteSummary: ...
def run_volume_plan(
    home: _Path,
    stages: Sequence[Sequence[str]],
    parts: int,
    parts_done: int,
    chunks: int,
    chunks_done: int,
    memory: int,
    jobs: int,
    progress: _Progress | None,
) -> VolumeReport: ...
def finish_volume_plan(home: _Path, parts: int, parts_done: int) -> VolumeReport: ...

def encode_chunk(
    array: npt.NDArray[Any], shape: Sequence[int], data_type: str, options: dict[str, Any]
) -> bytes:
    """Encodes an array of four dimensions in Fortran order."""

def decode_chunk(
    data: bytes | memoryview,
    array: npt.NDArray[Any],
    shape: Sequence[int],
    data_type: str,
    options: dict[str, Any],
) -> None:
    """Fills an array of four dimensions in Fortran order."""

def downsample_array(
    array: npt.NDArray[Any],
    shape: Sequence[int],
    data_type: str,
    out: npt.NDArray[Any],
    factor: Sequence[int],
    method: str,
    ignore_zero: bool,
) -> None:
    """Fills `out`, of which each voxel is a block of `array`."""
