"""The engine of the package dolium: use it by way of that."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer, Self

from ._plans import Plan
from ._reports import (
    Entry,
    Finding,
    JobReport,
    StatsReport,
    TaskReport,
    VerifyReport,
    WriteSummary,
)
from .mesh import Meshes
from .skeleton import Skeletons

_Default = TypeVar("_Default")
_Item = TypeVar("_Item", covariant=True)

_Key: TypeAlias = int | str
_Path: TypeAlias = str | os.PathLike[str]
# A folder, text as `--cache` takes it, or folder, limit in bytes, and whether offline.
_Cache: TypeAlias = _Path | tuple[_Path, int, bool]
_Spec: TypeAlias = ShardingSpec | dict[str, Any] | str | os.PathLike[str]
_Hash: TypeAlias = Literal["identity", "murmurhash3_x86_128"]
_Encoding: TypeAlias = Literal["raw", "gzip"]
_Vector: TypeAlias = tuple[int, int, int]
_Box: TypeAlias = tuple[_Vector, _Vector]
_BoxRequest: TypeAlias = tuple[_Box, _Vector, tuple[int, int]]
# Called with entries done, all entries (0: not known) and bytes. What it raises stops the work.
_Progress: TypeAlias = Callable[[int, int, int], object]

__version__: str

class Error(Exception):
    """What only dolium raises."""

class CorruptError(Error):
    """The bytes contradict the format or a checksum."""

class ConflictError(Error, OSError):
    """An object was replaced, again and again, while it was used."""

def hint_texts() -> list[str]:
    """What messages may end with: advice on what may help."""

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
        spec: _Spec | None = None,
        format: str | None = None,
        unfinished: bool = False,
        cache_bytes: int = 256 << 20,
        xorbs: _Path | None = None,
        cache: _Cache | None = None,
        sharding: _Spec | None = None,
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
        """What the format says about the set."""

    def meshes(self) -> Meshes:
        """The meshes of the folder: what dolium.mesh.open() gives."""

    def skeletons(self) -> Skeletons:
        """The skeletons of the folder: what dolium.skeleton.open() gives."""

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
        deep: bool = False,
        sample: float = 1.0,
        seed: int = 0,
        strict: bool = False,
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

def info(
    location: _Path,
    *,
    format: str | None = None,
    spec: _Spec | None = None,
    sharding: _Spec | None = None,
    xorbs: _Path | None = None,
    supervoxels: bool = False,
    resolution: Sequence[float] | None = None,
    coordinates: str | None = None,
    skip_damaged: bool = False,
    cache: _Cache | None = None,
) -> dict[str, Any]:
    """What a location holds: its `kind`, its `format`, whether it is `finished`, and the
    `properties` that the format reports of it. It is opened as dolium.open() and Volume.open() do,
    with their options."""

def stats(
    location: _Path,
    *,
    format: str | None = None,
    spec: _Spec | None = None,
    sharding: _Spec | None = None,
    xorbs: _Path | None = None,
    supervoxels: bool = False,
    resolution: Sequence[float] | None = None,
    coordinates: str | None = None,
    skip_damaged: bool = False,
    cache: _Cache | None = None,
    jobs: int = 0,
    progress: _Progress | None = None,
) -> StatsReport:
    """Counts and sizes of whatever is at a location, from its index alone. It is opened as by info()."""

def verify(
    location: _Path,
    *,
    quick: bool = False,
    deep: bool = False,
    sample: float = 1.0,
    seed: int = 0,
    strict: bool = False,
    missing: bool = False,
    format: str | None = None,
    spec: _Spec | None = None,
    sharding: _Spec | None = None,
    xorbs: _Path | None = None,
    supervoxels: bool = False,
    resolution: Sequence[float] | None = None,
    coordinates: str | None = None,
    skip_damaged: bool = False,
    cache: _Cache | None = None,
    jobs: int = 0,
    progress: _Progress | None = None,
) -> VerifyReport:
    """Checks whatever is at a location: a set, a volume, an export, a cas store. Damage is
    reported, not raised. With `strict`, chunks that a volume lacks are warnings (`missing` is its
    older name). With `deep`, the catalog of a ShardPack set and lists of labels of DVID blocks are
    compared with what is there. It is opened as by info()."""

def convert(
    source: _Path,
    target: _Path,
    *,
    to: str | None = None,
    format: str | None = None,
    spec: _Spec | None = None,
    to_spec: _Spec | None = None,
    from_sharding: _Spec | None = None,
    sharding: _Spec | None = None,
    force: bool = False,
    skip_damaged: bool = False,
    salvage: bool = False,
    unfinished: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    progress: _Progress | None = None,
    shard_size: int | None = None,
    hash: _Hash | None = None,
    minishard_index_encoding: _Encoding | None = None,
    data_encoding: _Encoding | None = None,
    preshift_bits: int | None = None,
    minishard_bits: int | None = None,
    shard_bits: int | None = None,
    labels: bool = False,
    supervoxels: bool = False,
    resolution: Sequence[float] | None = None,
    coordinates: Literal["auto", "block", "voxel"] | None = None,
    downsample: int | None = None,
    scales: Sequence[int] | None = None,
    layout: Literal["stream", "seed"] | None = None,
    csv: Literal["documented", "dvid"] | None = None,
    shard_side: int | None = None,
) -> JobReport:
    """Converts one set into another, on threads. `to` and `format` name the formats of the target
    and the source, `to_spec` and `spec` their specs (`sharding` and `from_sharding` are older names
    for these). From `shard_size` on are the parameters of targets, those that target_parameters()
    lists. With `to` "precomputed" or "dvid", a volume or a DVID export becomes a
    volume or an export. A rerun resumes what was cut short."""

def target_parameters() -> list[str]:
    """What can be chosen of targets of convert(), by the keywords that it takes."""

def plan_convert(
    source: _Path,
    target: _Path,
    *,
    to: str | None = None,
    format: str | None = None,
    spec: _Spec | None = None,
    to_spec: _Spec | None = None,
    from_sharding: _Spec | None = None,
    sharding: _Spec | None = None,
    force: bool = False,
    skip_damaged: bool = False,
    salvage: bool = False,
    unfinished: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    progress: _Progress | None = None,
    shard_size: int | None = None,
    hash: _Hash | None = None,
    minishard_index_encoding: _Encoding | None = None,
    data_encoding: _Encoding | None = None,
    preshift_bits: int | None = None,
    minishard_bits: int | None = None,
    shard_bits: int | None = None,
    labels: bool = False,
    supervoxels: bool = False,
    resolution: Sequence[float] | None = None,
    coordinates: Literal["auto", "block", "voxel"] | None = None,
    downsample: int | None = None,
    scales: Sequence[int] | None = None,
    layout: Literal["stream", "seed"] | None = None,
    csv: Literal["documented", "dvid"] | None = None,
    shard_side: int | None = None,
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
def find_job(job_folder: _Path) -> Plan: ...
def run_job(
    job_folder: _Path,
    force: bool = False,
    memory: int = 256 << 20,
    jobs: int = 0,
    progress: _Progress | None = None,
) -> JobReport: ...
def finish_job(job_folder: _Path, force: bool = False) -> JobReport: ...

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
        exported: dict[str, Any] = ...,
        cache: _Cache | None = None,
    ) -> None: ...
    def other(self, scale: int) -> VolumeScale:
        """Another scale of the same volume."""

    def read(
        self, request: _BoxRequest, array: npt.NDArray[Any], strict: bool, jobs: int
    ) -> None:
        """Fills an array with what a request names: a box, the steps in it, and the first channel
        and the one past the last."""

    def read_many(
        self,
        requests: Sequence[_BoxRequest],
        arrays: list[npt.NDArray[Any]],
        strict: bool,
        jobs: int,
    ) -> None:
        """Fills an array for each request."""

    def write(
        self,
        box: _Box,
        channels: tuple[int, int],
        array: npt.NDArray[Any],
        jobs: int,
        mask: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        """Replaces some channels of a box by an array; with a mask of uint8, the voxels alone
        where that is not 0."""

    @property
    def opened(self) -> tuple[str, dict[str, Any], _Cache | None]:
        """The location that was opened, how an export is read, and the cache."""

    @property
    def skipped(self) -> list[Finding]:
        """Damaged chunks that reads have left out."""

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
    unfinished: bool,
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
) -> Plan: ...
def plan_volume_downsample(
    volume: _Path,
    from_scale: int | None,
    storage: dict[str, Any],
    pyramid: dict[str, Any],
    rebuild: bool,
    skip_damaged: bool,
    force: bool,
) -> Plan: ...
def drop_volume_scales(
    volume: _Path,
    numbers: Sequence[int],
    resolutions: Sequence[tuple[float, float, float]],
    force: bool,
) -> list[str]:
    """Drops scales by number and by resolution; their keys."""

def finish_volume(location: _Path) -> None:
    """Takes the marker away that readers refuse an unfinished volume for."""

def plan_volume_transcode(
    source: _Path,
    target: _Path,
    scales: Sequence[int],
    storage: dict[str, Any],
    force: bool,
    exported: dict[str, Any],
) -> Plan: ...
def plan_mesh_make(
    volume: _Path, target: _Path | None, options: dict[str, Any], exported: dict[str, Any]
) -> Plan: ...
def meshes_of_array(
    array: npt.NDArray[Any],
    size: Sequence[int],
    data_type: str,
    resolution: tuple[float, float, float],
    offset: Sequence[int],
    error: float,
    open: bool,
    jobs: int,
) -> list[tuple[int, bytes, bytes]]:
    """Of an array of four dimensions, the last of them 1: id, float32 vertices, uint32 triangles."""

def plan_skeleton_make(
    volume: _Path,
    target: _Path | None,
    options: dict[str, Any],
    exported: dict[str, Any],
    memory: int,
) -> Plan: ...
def skeletons_of_array(
    array: npt.NDArray[Any],
    size: Sequence[int],
    data_type: str,
    resolution: tuple[float, float, float],
    options: dict[str, Any],
    jobs: int,
) -> list[tuple[int, bytes, bytes, list[bytes]]]:
    """Of an array of four dimensions, the last of them 1: id, float32 vertices, uint32 edges, and
    float32 attributes."""

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

def decode_jpegs(contents: Iterable[Any], jobs: int = 0) -> list[Any]:
    """Images as arrays, decoded on threads; an exception in place of each that is damaged."""

class NotShardPackError(CorruptError):
    """Neither end of the file is that of a ShardPack."""

class IncompleteError(CorruptError):
    """The shard was not finished, or its end is missing."""

class TrailingDataError(CorruptError):
    """The file is longer than the shard it holds."""

class IndexCorruptError(CorruptError):
    """Index or footer are damaged."""

class SectionCorruptError(CorruptError):
    """A section of the tail is damaged; records can still be read."""

class RecordCorruptError(CorruptError):
    """A record is damaged."""

class EntryCorruptError(CorruptError):
    """An entry is damaged."""

class LimitExceededError(CorruptError):
    """An entry is larger than the caller allows."""

class UnsupportedCodecError(Error, NotImplementedError):
    """An entry is compressed in a way that is not known."""

class UnsupportedFeatureError(Error, NotImplementedError):
    """The shard needs something that is not known."""

class UnsupportedVersionError(Error, NotImplementedError):
    """The shard is of a version that is not known."""

class PackEntry:
    """One file of a sample."""

    @property
    def name(self) -> str: ...
    @property
    def content_type(self) -> str: ...
    @property
    def data(self) -> bytes:
        """The content, decompressed and checked."""

    def view(self, check: bool = False) -> memoryview:
        """The content, without a copy where it is stored as it is; checked then only if asked."""

    def read(self, offset: int, length: int) -> bytes:
        """A part of the content. Of entries in chunks, only those it touches are decoded."""

    @property
    def size(self) -> int: ...
    @property
    def stored_size(self) -> int: ...
    @property
    def codec(self) -> str: ...
    @property
    def crc32c(self) -> int | None:
        """Of the bytes as stored; of the table of chunks, if there are chunks. None of a file in segments."""

    @property
    def is_chunked(self) -> bool: ...
    @property
    def array(self) -> tuple[str, tuple[int, ...]] | None:
        """Type and shape, if it is an array."""

    @property
    def metadata(self) -> Any:
        """Parsed, if it is JSON, or MsgPack or CBOR and the package for that is installed; else the
        bytes."""

    @property
    def metadata_format(self) -> Literal["json", "msgpack", "cbor", "opaque"] | None:
        """What the metadata are encoded as; None if there are none."""

    @property
    def mtime(self) -> int | None:
        """Nanoseconds since 1970, if it was kept."""

    @property
    def mode(self) -> int | None: ...
    @property
    def record(self) -> PackRecord: ...
    def numpy(self) -> npt.NDArray[Any]:
        """The content as an array, without a copy where it is stored as it is."""

    def decode(self) -> Any:
        """What the decoder of the content type makes of it; the bytes, if there is none."""

    def __repr__(self) -> str: ...

class PackRecord:
    """One sample: a key and files."""

    @property
    def key(self) -> str: ...
    @property
    def metadata(self) -> Any:
        """Parsed, if it is JSON, or MsgPack or CBOR and the package for that is installed; else the
        bytes."""

    @property
    def metadata_format(self) -> Literal["json", "msgpack", "cbor", "opaque"] | None:
        """What the metadata are encoded as; None if there are none."""

    @property
    def shard(self) -> str: ...
    @property
    def number(self) -> int:
        """Of the record in its shard."""

    @property
    def offset(self) -> int:
        """Of the record in its shard."""

    @property
    def is_tombstone(self) -> bool: ...
    @property
    def nbytes(self) -> int:
        """Of all files, decompressed."""

    def file_entries(self) -> Iterable[PackEntry]:
        """The files, in order. Of a damaged record, those that can be reached, and then the
        error."""

    def names(self) -> list[str]: ...
    def as_dict(self) -> dict[str, bytes]: ...
    def get(self, name: str) -> PackEntry | None: ...
    def __getitem__(self, name: str) -> PackEntry: ...
    def __contains__(self, name: str) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[PackEntry]: ...
    def __repr__(self) -> str: ...

class PackSet:
    """Samples by number and key."""

    def __len__(self) -> int: ...
    def read(self, number: int) -> PackRecord: ...
    def read_many(
        self, numbers: Iterable[int], keep_errors: bool = False, jobs: int = 0
    ) -> list[Any]: ...
    def find(self, key: str) -> int | None: ...
    def keys(self, begin: int, end: int) -> list[str]: ...
    def read_at(self, shard: int, offset: int) -> PackRecord: ...
    @property
    def shard_count(self) -> int: ...
    def shard_info(self, shard: int) -> dict[str, Any]: ...
    def offsets(self, shard: int) -> list[int]: ...
    @property
    def is_local(self) -> bool:
        """Whether reading is a look into memory."""

    def extents(self) -> list[tuple[int, int]]:
        """Samples and bytes of each shard."""

    def keys_digests(self) -> list[int]:
        """For each shard a digest of its keys in order; 0 where it is not known."""

class PackDataset:
    """What shardpack.Dataset is made of."""

    def __init__(self, set: Any) -> None: ...
    @property
    def _set(self) -> Any: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex | str) -> PackRecord: ...
    @overload
    def __getitem__(self, index: slice | Iterable[int]) -> list[PackRecord]: ...
    def __iter__(self) -> Iterator[PackRecord]: ...
    def records(self) -> Iterator[PackRecord]:
        """All samples, in order."""

class PackRecords:
    """The samples of a local set, in order."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> PackRecord: ...

@final
class PackTuples:
    """Chosen files of each sample."""

    def __init__(
        self,
        dataset: object,
        set: PackSet,
        names: Sequence[str],
        allows_missing: bool = False,
        views: bool = False,
        decodes: bool = False,
    ) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def recipe(self) -> tuple[object, list[str], bool, bool, bool]: ...
    def __len__(self) -> int: ...
    def __getitem__(
        self, key: SupportsIndex | slice | Iterable[int], /
    ) -> tuple[Any, ...]: ...
    def __iter__(self) -> PackTupleIterator: ...

@final
class PackTupleIterator:
    """Tuples, in order."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Any, ...]: ...

class PackStream:
    """Samples front to back, without seeking."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, dict[str, tuple[str, bytes]], int, bytes, int, bool]: ...

class PackWriter:
    """Samples in, numbered shards out."""

    def __init__(
        self, output: _Path, options: dict[str, Any], resume: bool = False
    ) -> None: ...
    @property
    def before(self) -> list[str]: ...
    def add(
        self,
        key: str,
        files: list[Any],
        metadata: tuple[int, bytes] | None,
        tombstone: bool = False,
    ) -> None: ...
    def finish(self) -> list[dict[str, Any]]: ...
    def abort(self) -> None: ...

class PackOrder:
    """In which order an epoch visits the samples of a set."""

    def __init__(
        self,
        total: int,
        shuffle: str = "global",
        seed: int = 0,
        epoch: int = 0,
        extents: Sequence[tuple[int, int]] = [],
        run_bytes: int = 8 << 20,
        window_runs: int = 16,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def at(self, position: int) -> int: ...
    def fill(self, begin: int, count: int) -> npt.NDArray[Any]: ...
    def window_at(self, position: int) -> tuple[int, int, list[tuple[int, int]]] | None:
        """The positions that visit the same runs as this one, and first and count of these; None
        without windows."""

class PackSplit:
    """Which positions of an order go to which rank, worker and batch."""

    def __init__(
        self,
        total: int,
        start: int = 0,
        batch_size: int = 1,
        rank: int = 0,
        world: int = 1,
        worker: int = 0,
        workers: int = 1,
        remainder: str = "drop",
    ) -> None: ...
    @property
    def batches(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def worker_batches(self) -> int: ...
    def batch(self, batch: int) -> npt.NDArray[Any]: ...
    def position_after(self, batches: int) -> int: ...

class PackMixture:
    """Several sets as one, in given proportions."""

    def __init__(
        self,
        totals: Sequence[int],
        weights: Sequence[float],
        stop: str = "first",
        samples: int = 0,
        seed: int = 0,
        epoch: int = 0,
        block_size: int = 1024,
    ) -> None: ...
    def __len__(self) -> int: ...
    def source_seed(self, source: int) -> int: ...
    def at(self, position: int) -> tuple[int, int, int]: ...
    def fill(self, begin: int, count: int) -> list[tuple[int, int, int]]: ...

def set_cache(cache: _Cache | None) -> None: ...
def parse_cache(cache: _Cache | None) -> tuple[str, int, bool] | None: ...
def pack_open(
    references: Sequence[_Path] | _Path,
    check: str = "full",
    map: bool = True,
    raw_limit: int = 4 << 30,
    tail_bytes: int = 64 << 10,
    cache: _Cache | None = None,
) -> PackSet: ...
def pack_join(
    sets: Sequence[PackSet], nonmatch: str = "error", by_key: bool = False
) -> PackSet: ...
def pack_overlay(base: PackSet, layers: Sequence[PackSet]) -> PackSet: ...
def run_command(arguments: Sequence[str]) -> int: ...
def pack_stream(source: _Path | int, check: str = "full") -> PackStream: ...
def pack_verify(
    location: _Path, contents: bool = True, jobs: int = 0
) -> VerifyReport: ...
def keep_map_guard() -> None: ...
def pack_repair(
    source: _Path, target: _Path, quick: bool, force: bool
) -> tuple[int, int, int, list[Finding]]: ...
def xet_hash_files(
    paths: Sequence[_Path], sha256: bool = False, jobs: int = 0
) -> list[tuple[str, int, str | None]]: ...
def xet_chunk_hash(data: Buffer) -> str: ...
def xet_chunks(data: Buffer, jobs: int = 0) -> list[tuple[str, int]]: ...
def xet_xorb_hash(chunks: Sequence[tuple[str, int]]) -> str: ...
def xet_make_xorb(
    chunks: Sequence[Buffer], compression: str = "auto", footer: bool = True
) -> tuple[str, bytes]: ...
def xet_read_xorb(
    data: Buffer, hash: str | None = None
) -> tuple[str, list[tuple[str, int]]]: ...
def xet_key_shard(
    shard: Buffer, key: str, created: int = 0, expiry: int | None = None
) -> bytes: ...
def xet_unite_shards(
    shards: Sequence[Buffer],
    created: int = 0,
    expiry: int | None = None,
    footer: bool = True,
) -> list[bytes]: ...
def xet_subtract_shards(
    shard: Buffer,
    without: Sequence[Buffer],
    created: int = 0,
    expiry: int | None = None,
    footer: bool = True,
) -> list[bytes]: ...
def xet_read_shard(
    data: Buffer, check: bool = True
) -> tuple[
    list[tuple[str, int, list[tuple[str, int, int, int]], list[str] | None, str | None]],
    list[tuple[str, list[tuple[str, int, int, bool]], int, int]],
    tuple[str | None, int, int | None, int, int, int, int, int, int] | None,
]: ...
def xet_find_run(
    shard: Buffer, chunks: Sequence[str], now: int | None = None
) -> tuple[str, int, int] | None: ...

class CasFile:
    @property
    def size(self) -> int: ...
    @property
    def hash(self) -> str: ...
    def read(self, offset: int, size: int) -> bytes: ...
    def readinto(self, offset: int, buffer: Buffer) -> int: ...
    def close(self) -> None: ...

def plan_pack_create(
    kind: str, input: _Path, output: _Path, reading: dict[str, Any], writing: dict[str, Any]
) -> Plan: ...
def plan_pack_copy(
    references: Sequence[str],
    order: str,
    selection: dict[str, Any],
    output: _Path,
    shards: int,
    writing: dict[str, Any],
    overlays: Sequence[str] = ...,
) -> Plan: ...
def plan_pack_export(
    references: Sequence[str], to: str, target: _Path, options: dict[str, Any]
) -> Plan: ...

class CasStore:
    def __init__(self, path: _Path) -> None: ...
    @property
    def path(self) -> str: ...
    def put(
        self,
        paths: Sequence[_Path],
        name: str,
        align_entries: bool = False,
        reread: bool = False,
        memory: int = 268435456,
        jobs: int = 0,
        progress: _Progress | None = None,
        exclude: Sequence[str] = (),
        one_file_system: bool = False,
        tags: Sequence[str] = (),
        host: str | None = None,
        owners: bool = True,
    ) -> dict[str, Any]: ...
    def put_bytes(
        self, data: Buffer, name: str, memory: int = 268435456, jobs: int = 0
    ) -> dict[str, Any]: ...
    def get(
        self,
        reference: str,
        output: _Path,
        force: bool = False,
        jobs: int = 0,
        progress: _Progress | None = None,
        path: _Path | None = None,
        skip_damaged: bool = False,
        owners: bool = True,
    ) -> tuple[int, int, tuple[tuple[str, str], ...]]: ...
    def forget(
        self,
        names: Sequence[str],
        last: int,
        daily: int,
        weekly: int,
        monthly: int,
        yearly: int,
        tags: Sequence[str],
        host: str,
        dry_run: bool,
    ) -> list[tuple[dict[str, Any], tuple[str, ...]]]: ...
    def export(
        self,
        output: _Path,
        references: Sequence[str],
        xorbs: _Path | None,
        upload: bool,
        force: bool,
        jobs: int,
    ) -> dict[str, int]: ...
    def import_shard(self, shard: _Path, name: str, xorbs: _Path | None) -> dict[str, Any]: ...
    def open(self, reference: str, path: _Path | None = None) -> CasFile: ...
    def names(self) -> list[str]: ...
    def entries(self, reference: str) -> list[dict[str, Any]]: ...
    def log(self, name: str) -> list[dict[str, Any]]: ...
    def stat(self) -> dict[str, Any]: ...
    def stat_version(self, reference: str) -> dict[str, Any]: ...
    def compare(self, first: str, second: str) -> dict[str, Any]: ...
    def remove(self, reference: str) -> int: ...
    def verify(
        self,
        quick: bool,
        deep: bool,
        quarantine: bool,
        jobs: int,
        progress: _Progress | None,
    ) -> VerifyReport: ...
    def gc(
        self, grace: float, dry_run: bool = False, repack: int = 50
    ) -> dict[str, Any]: ...
    def plan_export(
        self,
        references: Sequence[str],
        target: _Path,
        xorbs: _Path | None,
        upload: bool,
        force: bool,
    ) -> Plan: ...
    def reindex(self) -> int: ...

def cas_init(path: _Path) -> None: ...

class DvidShard:
    """One Arrow file of an export: what dolium.dvid reads by. Keys are x, y, z as they are
    stored."""

    def __init__(
        self, location: _Path, coordinates: str = "auto", salvage: bool = False
    ) -> None: ...
    def __len__(self) -> int: ...
    def keys(self) -> list[_Vector]:
        """In storage order."""

    def row(self, key: Sequence[int]) -> tuple[bytes, bytes, bytes] | None:
        """Labels, supervoxels (8 bytes each) and the block as stored; None if it is not there."""

    def block(self, key: Sequence[int]) -> bytes | None:
        """The label block; None if it is not there."""

    def voxels(self, key: Sequence[int], labels: bool, array: npt.NDArray[Any]) -> bool:
        """Fills an array of 64 x 64 x 64 x 1; False if the block is not there."""

    @property
    def location(self) -> str: ...
    @property
    def is_file(self) -> bool: ...
    @property
    def in_voxels(self) -> bool: ...
    @property
    def arrow_bytes(self) -> int:
        """How many of the first bytes are Arrow's."""

    def __reduce__(self) -> tuple[Any, ...]: ...

def encode_dvid_block(array: npt.NDArray[Any], shape: Sequence[int]) -> bytes:
    """Encodes an array of four dimensions in Fortran order, of one channel."""

def dvid_block_shape(data: Any) -> list[int]:
    """The size of a label block in voxels."""

def decode_dvid_block(data: Any, array: npt.NDArray[Any], labels: Any | None) -> None:
    """Fills an array of four dimensions in Fortran order, of one channel."""

def write_dvid_shard(
    location: _Path,
    rows: Iterable[tuple[Sequence[int], bytes, bytes, bytes, int]],
    layout: str,
    csv: str,
    rows_per_batch: int,
) -> int:
    """Writes rows of key, labels, supervoxels, block and size; returns the bytes."""

def plan_dvid_export(
    source: _Path,
    target: _Path,
    scales: Sequence[int],
    layout: str,
    csv: str,
    shard_side: int,
    exported: dict[str, Any],
    force: bool,
) -> Plan: ...

class MeshFolder:
    def __init__(self, location: _Path, cache: _Cache | None = None) -> None: ...
    @property
    def location(self) -> str: ...
    @property
    def is_sharded(self) -> bool: ...
    @property
    def info_text(self) -> str | None:
        """None for legacy meshes."""

    def ids(self) -> npt.NDArray[np.uint64]: ...
    def get(
        self, ids: Any, lod: int, stored_units: bool, weld: bool, jobs: int
    ) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]] | None]: ...
    def levels(self, id: int) -> int | None: ...

def export_meshes(
    meshes: MeshFolder,
    ids: Any,
    target: _Path,
    to: str,
    lod: int,
    force: bool,
    jobs: int,
    progress: Any | None,
) -> dict[str, Any]: ...
def write_meshes(
    location: _Path,
    meshes: Iterable[tuple[int, npt.NDArray[np.float32], npt.NDArray[np.uint32]]],
    storage: str,
    bits: int,
    transform: Sequence[float] | None,
    count: int,
    bytes: int,
    register: bool,
    force: bool,
    jobs: int,
    memory: int,
    progress: Any | None,
) -> WriteSummary: ...
def mesh_file(
    vertices: npt.NDArray[np.float32], faces: npt.NDArray[np.uint32], to: str
) -> bytes: ...
def parse_mesh_file(
    content: bytes, from_: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]: ...

class SkeletonFolder:
    def __init__(self, location: _Path, cache: _Cache | None = None) -> None: ...
    @property
    def location(self) -> str: ...
    @property
    def is_sharded(self) -> bool: ...
    @property
    def info_text(self) -> str: ...
    @property
    def attributes(self) -> list[tuple[str, str, int]]:
        """Name, type and numbers for a vertex."""

    def ids(self) -> npt.NDArray[np.uint64]: ...
    def get(
        self, ids: Any, stored_units: bool, jobs: int
    ) -> list[
        tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32], list[npt.NDArray[Any]]] | None
    ]: ...

def export_skeletons(
    skeletons: SkeletonFolder,
    ids: Any,
    target: _Path,
    force: bool,
    jobs: int,
    progress: Any | None,
) -> dict[str, Any]: ...
def write_skeletons(
    location: _Path,
    skeletons: Iterable[
        tuple[int, npt.NDArray[np.float32], npt.NDArray[np.uint32], Sequence[bytes]]
    ],
    attributes: Sequence[tuple[str, str, int]],
    storage: str,
    keep_types: bool,
    transform: Sequence[float] | None,
    count: int,
    bytes: int,
    register: bool,
    force: bool,
    jobs: int,
    memory: int,
    progress: Any | None,
) -> WriteSummary: ...
def swc_text(
    vertices: npt.NDArray[np.float32],
    edges: npt.NDArray[np.uint32],
    attributes: Sequence[tuple[str, str, int]],
    contents: Sequence[bytes],
) -> str: ...
def parse_swc(
    text: str,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32], list[npt.NDArray[Any]]]: ...

_Records: TypeAlias = tuple[bytes, bytes, bytes, bytes, list[tuple[bytes, bytes]]]

class AnnotationWriter:
    """Writes a folder of annotations."""

    def __init__(
        self,
        target: _Path,
        schema: str,
        force: bool,
        unsharded: bool,
        encoding: str,
        shard_bytes: int,
        limit: int,
        seed: int,
        memory: int,
        jobs: int,
    ) -> None: ...
    def add(
        self,
        ids: npt.NDArray[Any],
        geometry: npt.NDArray[Any],
        ends: npt.NDArray[Any] | None,
        properties: npt.NDArray[Any],
        related: list[tuple[Any, Any]],
    ) -> None:
        """Adds annotations, of contiguous arrays."""

    def finish(self, progress: _Progress | None) -> dict[str, int]:
        """Writes all indexes; the folder appears."""

    def close(self) -> None:
        """Drops what is not finished."""

    def offsets(self) -> list[int]:
        """Where properties are in a record."""

    def property_bytes(self) -> int:
        """Bytes of the properties of a record."""

class AnnotationReader:
    """Reads a folder of annotations."""

    def __init__(self, location: _Path) -> None: ...
    def info(self) -> str:
        """The info, as JSON."""

    def offsets(self) -> list[int]:
        """Where properties are in a record."""

    def property_bytes(self) -> int:
        """Bytes of the properties of a record."""

    def ids(self) -> bytes:
        """All ids, ascending."""

    def get(self, ids: Iterable[int], jobs: int) -> _Records:
        """Those with these ids."""

    def query(self, lower: Sequence[float], upper: Sequence[float], levels: int, jobs: int) -> _Records:
        """Those that meet a box."""

    def related(self, relationship: str, id: int) -> _Records:
        """Those related to an id."""

def read_segment_properties(location: _Path) -> str:
    """The info of segment properties, as JSON."""

def write_segment_properties(location: _Path, info: str, force: bool) -> str:
    """Writes an info; gives its folder."""

def segment_properties_of_csv(csv: _Path) -> str:
    """The info that a CSV file makes."""

def measure_segments(volume: _Path, scale: int, jobs: int, progress: _Progress | None) -> str:
    """The info that the voxels of a volume make."""
