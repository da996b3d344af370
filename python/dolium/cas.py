"""Content-addressed storage: names of files, chunks and xorbs as Xet makes them, and a store.

    dolium.cas.file_hash("model.safetensors")
    dolium.cas.chunks(data)

    store = dolium.cas.Store.init("store")
    version = store.put("train-data")
    store.get(version.reference, "restored")
    store.open("train-data", "images/0.png").pread(100, 0)

A hash is text of 64 digits, as it stands in URLs and in the names of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _core
from ._cas_store import Damage, KeepChoice, Restored, Store, StoredFile, StoreEntry, Version

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Chunk",
    "ChunkRun",
    "Damage",
    "FileHash",
    "KeepChoice",
    "Restored",
    "Shard",
    "ShardChunk",
    "ShardFile",
    "ShardFooter",
    "ShardXorb",
    "Store",
    "StoreEntry",
    "StoredFile",
    "Term",
    "Version",
    "Xorb",
    "chunk_hash",
    "chunks",
    "file_hash",
    "find_run",
    "hash_files",
    "key_shard",
    "make_xorb",
    "read_shard",
    "read_xorb",
    "subtract_shards",
    "unite_shards",
    "xorb_hash",
]


class FileHash(NamedTuple):
    """What hash_files() gives for a file."""

    hash: str
    size: int
    sha256: str | None


class Chunk(NamedTuple):
    """A chunk of a file: at most 128 KiB."""

    hash: str
    size: int


class Xorb(NamedTuple):
    """What read_xorb() finds: the hash, and the chunks in order."""

    hash: str
    chunks: list[Chunk]


class ChunkRun(NamedTuple):
    """What find_run() finds: chunks [first, end) of a xorb."""

    xorb: str
    first: int
    end: int


class Term(NamedTuple):
    """A part of a file: chunks [first, end) of a xorb, of `size` raw bytes."""

    xorb: str
    first: int
    end: int
    size: int


class ShardFile(NamedTuple):
    """A file of an MDB shard."""

    hash: str
    size: int
    terms: list[Term]
    range_hashes: list[str] | None  # one for each term
    sha256: str | None


class ShardChunk(NamedTuple):
    """A chunk of a xorb of an MDB shard."""

    hash: str  # under the key of the shard, if that has one
    size: int
    offset: int  # in the raw data of the xorb
    eligible: bool  # marked for global deduplication


class ShardXorb(NamedTuple):
    """A xorb of an MDB shard."""

    hash: str
    chunks: list[ShardChunk]
    raw_bytes: int
    stored_bytes: int  # stock clients write 0


class ShardFooter(NamedTuple):
    """What the end of an MDB shard says of all of it."""

    key: str | None  # of the hashes of chunks; None: they are plain
    created: int  # seconds since 1970
    expiry: int | None  # the same; None: never
    stored_on_disk: int
    materialized_bytes: int
    stored_bytes: int
    file_rows: int  # of the look-up tables
    xorb_rows: int
    chunk_rows: int


class Shard(NamedTuple):
    """What read_shard() finds."""

    files: list[ShardFile]
    xorbs: list[ShardXorb]
    footer: ShardFooter | None  # None: an upload


def file_hash(path: str | os.PathLike[str], *, jobs: int = 0) -> str:
    """The hash by which Xet knows a file with these bytes; zeros for an empty file.

    Large files are read on `jobs` threads (0: one per core). One that is cut short meanwhile is an
    error.
    """
    return _core.xet_hash_files([path], False, jobs)[0][0]


def hash_files(
    paths: Iterable[str | os.PathLike[str]], *, sha256: bool = False, jobs: int = 0
) -> list[FileHash]:
    """The same for many files, and their sizes; with `sha256`, also that."""
    return [FileHash(*file) for file in _core.xet_hash_files(list(paths), sha256, jobs)]


def chunk_hash(data: Buffer) -> str:
    """The hash of bytes that are one chunk."""
    return _core.xet_chunk_hash(data)


def chunks(data: Buffer, *, jobs: int = 0) -> list[Chunk]:
    """Cuts `data` as Xet does, and hashes each chunk."""
    return [Chunk(*chunk) for chunk in _core.xet_chunks(data, jobs)]


def xorb_hash(chunks: Sequence[tuple[str, int]]) -> str:
    """The hash of a xorb with these chunks, given as (hash, size)."""
    return _core.xet_xorb_hash(chunks)


def make_xorb(
    chunks: Sequence[Buffer],
    *,
    compression: Literal["auto", "none", "lz4", "bg4-lz4"] = "auto",
    footer: bool = True,
) -> tuple[str, bytes]:
    """Puts chunks, given as bytes, together to a xorb: its hash, and its bytes."""
    return _core.xet_make_xorb(chunks, compression, footer)


def read_xorb(data: Buffer, hash: str | None = None) -> Xorb:
    """Reads and checks all of a xorb; with `hash`, also that this is its hash."""
    found, chunks = _core.xet_read_xorb(data, hash)
    return Xorb(found, [Chunk(*chunk) for chunk in chunks])


def read_shard(data: Buffer, *, check: bool = True) -> Shard:
    """Reads an MDB shard: files with terms, range hashes and SHA-256, xorbs with chunks, and the
    footer.

    With `check`, also holds all against each other that can be compared without the xorbs
    themselves: sums, tables, names of xorbs and files, range hashes.
    """
    files, xorbs, footer = _core.xet_read_shard(data, check)
    return Shard(
        [
            ShardFile(hash, size, [Term(*term) for term in terms], ranges, sha256)
            for hash, size, terms, ranges, sha256 in files
        ],
        [
            ShardXorb(hash, [ShardChunk(*chunk) for chunk in chunks], raw, stored)
            for hash, chunks, raw, stored in xorbs
        ],
        None if footer is None else ShardFooter(*footer),
    )


def key_shard(shard: Buffer, key: str, *, created: int = 0, expiry: int | None = None) -> bytes:
    """The answer of a server to a query for chunks: the xorbs of an MDB shard, with the hashes of
    their chunks under `key`, and no files.

    Who has a chunk can find it there, and nobody can learn of others. `created` and `expiry` are
    seconds since 1970; once expired, nothing is found in it.
    """
    return _core.xet_key_shard(shard, key, created, expiry)


def unite_shards(
    shards: Sequence[Buffer],
    *,
    created: int = 0,
    expiry: int | None = None,
    footer: bool = True,
) -> list[bytes]:
    """All that is in any of these MDB shards, as shards of at most 64 MiB.

    Of a file that is in several, no range hash and no SHA-256 is lost. Without `footer` they are
    uploads: then either all files have range hashes or none.
    """
    return _core.xet_unite_shards(shards, created, expiry, footer)


def subtract_shards(
    shard: Buffer,
    without: Sequence[Buffer],
    *,
    created: int = 0,
    expiry: int | None = None,
    footer: bool = True,
) -> list[bytes]:
    """What is in an MDB shard and in none of the others; without `footer`, as uploads."""
    return _core.xet_subtract_shards(shard, without, created, expiry, footer)


def find_run(shard: Buffer, chunks: Sequence[str], *, now: int | None = None) -> ChunkRun | None:
    """The longest run in a xorb that begins with the first of `chunks` and goes on with the next.

    Hashes are plain, also for a keyed shard. None if the first is not there, or if the shard has
    expired at `now` (seconds since 1970; by default, the time it is).
    """
    run = _core.xet_find_run(shard, chunks, now)
    return None if run is None else ChunkRun(*run)
