"""Writer: samples in, numbered shards out."""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from dolium import _core
from dolium._decode import metadata_bytes

from ._contents import content_of
from ._dataset import open as open_set
from ._jobs import jobs_of, shard_options

if TYPE_CHECKING:
    from typing_extensions import Self

Compression = Literal["none", "gzip", "lz4", "zstd"]


@dataclasses.dataclass(frozen=True)
class ShardReport:
    """One shard that was written."""

    path: str
    records: int
    size: int


class Writer:
    """Writes samples into one shard, or into numbered ones that are begun by size or count.

        with shardpack.Writer("train-000000.shardpack", shard_size=256 << 20) as writer:
            writer.write(key, {"left.jpg": jpeg, "meta.json": b"{}"})

    Samples are compressed on threads; the files do not depend on how many. A shard appears whole
    when it is done: one that an exception or a kill interrupts does not.

    Contents are bytes or any buffer of bytes; str, as UTF-8; arrays and scalars of numpy, tensors of
    torch and buffers of numbers, as .npy (`application/x-npy`), whatever their name; int, float,
    bool, dict, list and tuple, as JSON. `entry.decode()` gives the value again. What would lose its
    type (objects, bfloat16, NaN as JSON) is refused.

    `compression` is "none", "gzip", "lz4" or "zstd"; what does not become smaller, or is of a type
    that is compressed already, is stored as it is. `align` is the alignment of contents in the
    file: 64 for SIMD, 4096 for direct reads. `metadata` are fields of the shard. `dictionary`
    trains a zstd dictionary of so many bytes from the first samples, for many small contents.

    With `resume`, a set of several shards whose writer was killed is completed: the shards that are
    there stay. `samples_before` says how many samples they hold and `last_key` what the last one is
    called, so that the caller goes on after it; samples are given in the same order again. Nothing
    more is written if nothing more is given. At the end, what killed writers left in the folder is
    removed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        compression: Compression = "none",
        level: int | None = None,
        align: int = 8,
        metadata: Mapping[str, Any] | None = None,
        name: str = "",
        shard_size: int = 0,
        shard_records: int = 0,
        record_size_limit: int = 0,
        oversize: Literal["error", "split", "skip"] = "error",
        dictionary: int = 0,
        key_index: bool = True,
        keys: bool = False,
        entry_index: bool | None = None,
        chunk_size: int = 1 << 20,
        chunk_threshold: int = 4 << 20,
        compress_all: bool = False,
        reproducible: bool = False,
        force: bool = False,
        resume: bool = False,
        memory: int = 256 << 20,
        jobs: int = 0,
        threads: int | None = None,
    ) -> None:
        jobs = jobs_of(jobs, threads)
        self._writer = _core.PackWriter(path, shard_options(locals()), resume)
        self.shards: list[ShardReport] = []
        self.samples_before = 0
        self.last_key: str | None = None
        if self._writer.before:
            self._look_at(self._writer.before)

    def _look_at(self, paths: list[str]) -> None:
        """Reads what the shards that are there hold."""
        before = open_set(paths)
        self.samples_before = len(before)
        self.last_key = before[len(before) - 1].key if len(before) else None
        self.shards = [
            ShardReport(path, shard["records"], shard["size"])
            for path, shard in zip(paths, before.shards)
        ]

    def write(
        self,
        key: str | None,
        files: Mapping[str, Any] | Iterable[tuple[str, Any]],
        *,
        metadata: Any = None,
        content_types: Mapping[str, str] | None = None,
        compression: Mapping[str, Compression] | None = None,
        file_metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds one sample. Content types follow from the values, else from the names, unless they
        are given. Without a key (None), it gets a random UUID. Metadata are anything that JSON has,
        bytes, or a `shardpack.Metadata` of bytes that are MsgPack or CBOR already."""
        key = str(uuid.uuid4()) if key is None else key
        types = content_types or {}
        codecs = compression or {}
        details = file_metadata or {}
        # To ask for a dict first spares most samples the slow answer of a Mapping.
        pairs = files.items() if isinstance(files, (dict, Mapping)) else files
        entries = []
        for name, content in pairs:
            content_type = types.get(name)
            data = content
            if type(content) is not bytes:
                try:
                    own_type, data = content_of(content)
                except (TypeError, ValueError) as error:
                    kind = TypeError if isinstance(error, TypeError) else ValueError
                    raise kind(f'"{key}": entry "{name}": {error}') from error
                content_type = content_type or own_type
            details_of_file = metadata_bytes(details.get(name)) if details else None
            entries.append((name, content_type, data, codecs.get(name), details_of_file))
        self._writer.add(key, entries, metadata_bytes(metadata))

    def delete(self, key: str) -> None:
        """Adds a tombstone: laid over another set, this one removes the key there."""
        self._writer.add(key, [], None, tombstone=True)

    def close(self) -> list[ShardReport]:
        """Finishes the last shard. Nothing may be written after it. Returns all shards of the set."""
        self.shards += [ShardReport(**shard) for shard in self._writer.finish()]
        return self.shards

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None:
            self.close()
        else:
            self._writer.abort()
