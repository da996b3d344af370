"""Dataset: samples by number, by key and in order."""

from __future__ import annotations

import copyreg
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, Union

from dolium import Cache, _core
from dolium._cache import AnyCache
from dolium._decode import metadata

from ._decoding import Decode, decoded
from ._jobs import jobs_of
from ._loader import Loader, Shuffle, make_loader
from ._reading import SetOrder, mean_bytes

if TYPE_CHECKING:
    from dolium._core import PackRecord as Record
    from typing_extensions import Self

Path = Union[str, "os.PathLike[str]"]
Reference = Union[Path, Sequence[Path]]
Check = Literal["full", "headers", "heads", "none"]

# How much of a remote set is read at once by records().
_READ_SAMPLES = 1024
_READ_BYTES = 8 << 20


class Offset(int):
    """The place of a record in its file, which knows the file's number in the set."""

    shard: int

    def __new__(cls, value: int, shard: int = 0) -> Offset:
        offset = super().__new__(cls, value)
        offset.shard = shard
        return offset


class StreamedFile(NamedTuple):
    """One file of a streamed sample."""

    name: str
    content_type: str
    data: bytes


class StreamedRecord(NamedTuple):
    """One sample that came from a stream."""

    key: str
    files: list[StreamedFile]
    metadata: Any
    number: int
    is_tombstone: bool

    def file_entries(self) -> list[StreamedFile]:
        return self.files

    def as_dict(self) -> dict[str, bytes]:
        return {file.name: file.data for file in self.files}


class Dataset(_core.PackDataset):
    """Samples of one shard or many. Immutable; may be shared by threads and forked processes, and
    pickled: another process opens the files again.

    `dataset[i]` and `dataset["key"]` are one sample; of several numbers or a slice it gives a list,
    decoded on threads.
    """

    def __init__(self, set: _core.PackSet, recipe: tuple[Any, ...]) -> None:
        super().__init__(set)
        self._recipe = recipe

    def _own(self) -> _core.PackSet:
        return self._set

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_recipe, (self._recipe,)

    def _get(self, index: str | SupportsIndex | slice | Iterable[int]) -> Record | list[Record]:
        """What __getitem__ gives for all but plain numbers."""
        if isinstance(index, str):
            found = self.get(index)
            if found is None:
                raise KeyError(index)
            return found
        if isinstance(index, slice):
            return self._set.read_many(range(*index.indices(len(self))))
        if hasattr(index, "__index__") and getattr(index, "ndim", 0) == 0:
            return self._set.read(index.__index__())
        return self._set.read_many(index)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._own().find(key) is not None

    def _records(self) -> Iterator[Record]:
        """What records() gives for sets that are not mapped."""
        # Many at once, where each read is a wait.
        own = self._set
        step = max(1, min(_READ_SAMPLES, _READ_BYTES // max(1, mean_bytes(self))))
        for begin in range(0, len(own), step):
            numbers = range(begin, min(begin + step, len(own)))
            for number, found in zip(numbers, own.read_many(numbers, True)):
                # Of a damaged sample, the sound entries can still be read.
                yield own.read(number) if isinstance(found, Exception) else found

    def get(self, key: str) -> Record | None:
        """The sample with that key; None if there is none."""
        own = self._own()
        number = own.find(key)
        return None if number is None else own.read(number)

    def find(self, key: str) -> int | None:
        """The number of the sample with that key; None if there is none."""
        return self._own().find(key)

    def keys(self, begin: int = 0, end: int | None = None) -> list[str]:
        """The keys of samples `begin` to `end`, in order."""
        return self._own().keys(begin, len(self) if end is None else end)

    def get_index(self) -> list[Offset]:
        """The place of each record, for read_record_at_offset. Samples that were too large for one
        record have several."""
        own = self._own()
        return [
            Offset(offset, shard)
            for shard in range(own.shard_count)
            for offset in own.offsets(shard)
        ]

    def read_record_at_offset(self, offset: int) -> Record:
        """The record that begins there: an Offset of get_index(), or a number for one shard."""
        return self._own().read_at(getattr(offset, "shard", 0), int(offset))

    def read_many(
        self,
        indices: Iterable[int],
        *,
        keep_errors: bool = False,
        jobs: int = 0,
        threads: int | None = None,
        decode: Decode = None,
    ) -> list[Any]:
        """Samples with their contents decompressed on threads. With `keep_errors`, an exception
        stands in the place of each sample that cannot be read. `decode` makes something else of
        each Record, as that of Loader does: True makes a dict of entries decoded by content type,
        JPEG images of all samples together on threads. (`threads` is the older name of `jobs`.)"""
        jobs = jobs_of(jobs, threads)
        found = self._own().read_many(indices, keep_errors, jobs)
        return found if decode is None else decoded(found, decode, keep_errors, jobs)

    def tuples(
        self,
        *names: str,
        missing: Literal["error", "none"] = "error",
        views: bool = False,
        decode: bool = False,
    ) -> _core.PackTuples:
        """Files of these names as tuples, the fastest way to read: `"__key__"` stands for the
        sample's key.

            pairs = dataset.tuples("jpg", "json")
            image, label = pairs[17]
            for image, label in pairs: ...
            images, labels = pairs[[3, 1, 4]]     # on threads

        A sample without such a file raises KeyError, or has None there with `missing="none"`.
        With `views`, files that are stored as they are come as memoryviews of the mapped shard,
        without a copy and unchecked but for their headers. With `decode`, files come as what the
        decoders of their content types make of them, JPEG images of a batch on threads.
        """
        if missing not in ("error", "none"):
            raise ValueError(f'missing is "error" or "none", not {missing!r}')
        return _tuples_of(self, list(names), missing == "none", views, decode)

    @property
    def shards(self) -> list[dict[str, Any]]:
        """Path, size, number of records and metadata of each shard."""
        own = self._own()
        shards = [own.shard_info(index) for index in range(own.shard_count)]
        for shard in shards:
            shard["metadata"] = json.loads(shard["metadata"])
        return shards

    @property
    def metadata(self) -> dict[str, Any]:
        """The fields that the writer of the (first) shard gave it."""
        own = self._own()
        if own.shard_count == 0:
            return {}
        return json.loads(own.shard_info(0)["metadata"]).get("user", {})

    def loader(
        self,
        batch_size: int = 1,
        *,
        shuffle: Shuffle = False,
        run_bytes: int = 8 << 20,
        window_runs: int = 16,
        **options: Any,
    ) -> Loader:
        """Batches in an order that is shuffled, split over ranks and resumable: see Loader."""
        return make_loader(self, batch_size, shuffle, run_bytes, window_runs, options)

    def _order_of(self, shuffle: str, run_bytes: int, window_runs: int) -> SetOrder:
        return SetOrder(self, shuffle, run_bytes, window_runs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"<shardpack.Dataset of {len(self)} samples in {self._set.shard_count} shards>"


def _tuples_of(
    dataset: Dataset, names: list[str], allows_missing: bool, views: bool, decodes: bool
) -> _core.PackTuples:
    """Also what unpickles them."""
    return _core.PackTuples(dataset, dataset._own(), names, allows_missing, views, decodes)


def _reduce_tuples(tuples: _core.PackTuples) -> tuple[Any, ...]:
    return _tuples_of, tuples.recipe


copyreg.pickle(_core.PackTuples, _reduce_tuples)  # type: ignore[arg-type]


def _make(recipe: tuple[Any, ...]) -> _core.PackSet:
    kind, *arguments = recipe
    if kind == "open":
        return _core.pack_open(*arguments)
    if kind == "join":
        recipes, nonmatch, by_key = arguments
        return _core.pack_join([_make(one) for one in recipes], nonmatch, by_key)
    base, layers = arguments
    return _core.pack_overlay(_make(base), [_make(one) for one in layers])


def _from_recipe(recipe: tuple[Any, ...]) -> Dataset:
    return Dataset(_make(recipe), recipe)


def _texts(reference: Reference) -> list[str]:
    if isinstance(reference, (list, tuple)):
        return [os.fspath(one) for one in reference]
    return [os.fspath(reference)]  # type: ignore[arg-type]


def open(
    reference: Reference,
    *,
    check: Check = "full",
    map: bool = True,
    raw_limit: int = 4 << 30,
    tail_bytes: int = 64 << 10,
    cache: AnyCache | None = None,
    cache_limit: int | None = None,
    cache_verify: bool = False,
) -> Dataset:
    """Opens a shard, or a set: a path or URL, brace notation (`train-{000000..000973}.shardpack`),
    a pattern, a folder, a list (`@file` or `*.txt`), a catalog (`*.json`), or several of these.

    `check` says what is verified: "full" (every byte that is handed out), "headers" or "none".
    ("heads" is an older name of "headers".)
    `map` maps local files into memory. `raw_limit` bounds what one entry may decode to.
    `tail_bytes` is how much of the end of a remote shard is asked for at first.

    `cache` keeps what is read from remote shards, as that of dolium.open() does: a dolium.Cache, a
    folder, or text such as "/ssd/cache,20GB". dolium.set_cache() sets one that all share.
    `cache_limit` is its limit in bytes. `cache_verify` is taken for the sake of older programs: what the
    cache keeps always has checksums, and `check` says what is verified of what is handed out.
    """
    kept = _cache_of(cache, cache_limit)
    return _from_recipe(("open", _texts(reference), check, map, raw_limit, tail_bytes, kept))


def _cache_of(cache: AnyCache | None, limit: int | None) -> Cache | None:
    """The cache that these arguments mean."""
    parsed = _core.parse_cache(cache)
    if parsed is None:
        return None
    kept = Cache(*parsed)
    return kept if limit is None else kept._replace(limit=min(max(limit, 1 << 20), (1 << 63) - 1))


def cache(
    reference: Reference, folder: Path, limit_bytes: int | None = None, **options: Any
) -> Dataset:
    """The same as `open(reference, cache=folder, cache_limit=limit_bytes, ...)`."""
    return open(reference, cache=folder, cache_limit=limit_bytes, **options)


def join(
    columns: Iterable[Dataset],
    *,
    nonmatch: Literal["error", "skip", "none"] = "error",
    by_key: bool = False,
) -> Dataset:
    """Several sets as columns of one: by position where digests prove that their keys are the
    same, else by key. `nonmatch` says what to do with a sample that a column does not have."""
    return _from_recipe(("join", [column._recipe for column in columns], nonmatch, by_key))


def overlay(base: Dataset, *layers: Dataset) -> Dataset:
    """`base` with what small `layers` change: files replaced or added, samples added, and those
    removed that `Writer.delete` names. Later layers win."""
    return _from_recipe(("overlay", base._recipe, [layer._recipe for layer in layers]))


def stream(source: Path | int | Any, *, check: Check = "full") -> Iterator[StreamedRecord]:
    """Samples front to back, without seeking: from a path, URL, pipe (a file descriptor or an open
    file), or "-" for standard input. One that was cut into several records is whole again, and
    has the number of the first. Raises at the end, if the shard proves not to be complete."""
    origin = source
    if source == "-":
        origin = sys.stdin.fileno()
    elif hasattr(source, "fileno"):
        # `source` stays: a file is closed with the last reference to it.
        origin = source.fileno()
    for key, files, format, raw, number, is_tombstone in _core.pack_stream(origin, check):
        entries = [StreamedFile(name, *content) for name, content in files.items()]
        details = metadata(format, raw) if format else None
        yield StreamedRecord(key, entries, details, number, is_tombstone)
