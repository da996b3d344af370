"""Whole shards of a remote set, kept in a local folder."""

from __future__ import annotations

import bisect
import contextlib
import fcntl
import hashlib
import itertools
import operator
import os
import re
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from dolium import _core

_Read = TypeVar("_Read")

# Lists what this cache has downloaded, one name per line: nothing else is ever deleted.
_RECORD = ".shardpack-cache"
_NAME = re.compile(r"[\w.-]{1,100}-[0-9a-f]{32}\.shardpack", re.ASCII)
_ATTEMPTS = 5
# How often the time of last use is noted.
_USE_SECONDS = 10


class ShardCache:
    """A folder of downloaded shards, which processes may share.

    An entry appears whole, by renaming. Its name is made of the shard's address and generation, so
    that a shard that was replaced is another entry. Entries that were not used for longest are
    deleted when all together exceed `limit` bytes; what was not downloaded by a cache never is.
    """

    def __init__(self, folder: Path, limit: int | None) -> None:
        self.folder = folder
        self._limit = limit
        folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def name_of(info: dict[str, Any]) -> str:
        stem = re.sub(r"[^\w.-]", "_", os.path.basename(info["path"]), flags=re.ASCII)
        identity = (info["path"], info["generation"], info["size"], info["footer_crc32c"])
        digest = hashlib.sha256("\0".join(map(str, identity)).encode()).hexdigest()
        return f"{stem.removesuffix('.shardpack')[:80] or 'shard'}-{digest[:32]}.shardpack"

    def path_of(self, name: str) -> Path:
        return self.folder / name

    def use(self, name: str) -> None:
        """Notes that an entry is in use."""
        with contextlib.suppress(FileNotFoundError):
            os.utime(self.path_of(name))

    def remove(self, name: str) -> None:
        self.path_of(name).unlink(missing_ok=True)

    def download(self, remote: _core.PackSet, shard: int, name: str, size: int) -> None:
        """Makes an entry, unless another process has made it meanwhile."""
        path, part = self.path_of(name), self.folder / f".{name}.part"
        with _locked(part) as file:
            if path.exists():
                part.unlink(missing_ok=True)
                return
            self._make_room(name, size)
            self._note(name)
            file.truncate(0)
            remote.copy_shard(shard, file.fileno())
            os.fsync(file.fileno())
            os.rename(part, path)

    def _note(self, name: str) -> None:
        if name not in self._noted():
            with open(self.folder / _RECORD, "ab") as record:
                record.write(f"{name}\n".encode())

    def _noted(self) -> set[str]:
        try:
            text = (self.folder / _RECORD).read_text("ascii", "replace")
        except FileNotFoundError:
            return set()
        return {name for name in text.splitlines() if _NAME.fullmatch(name)}

    def _make_room(self, wanted: str, size: int) -> None:
        if self._limit is None:
            return
        entries = []
        for name in self._noted() - {wanted}:
            self._remove_abandoned(self.folder / f".{name}.part")
            with contextlib.suppress(FileNotFoundError):
                status = self.path_of(name).lstat()
                if stat.S_ISREG(status.st_mode):
                    entries.append((status.st_mtime_ns, name, status.st_size))
        excess = sum(entry[2] for entry in entries) + size - self._limit
        for _, name, entry_size in sorted(entries):
            if excess <= 0:
                break
            self.remove(name)
            excess -= entry_size

    @staticmethod
    def _remove_abandoned(part: Path) -> None:
        """Deletes what a download left behind whose process has ended."""
        with contextlib.suppress(FileNotFoundError, BlockingIOError), open(part, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


@contextlib.contextmanager
def _locked(part: Path) -> Iterator[Any]:
    """The file of a download, ours alone. The lock ends with the process, however that ends."""
    while True:
        # Not to append: parts of the shard arrive in any order.
        with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                is_there = os.path.samestat(os.fstat(file.fileno()), os.stat(part))
            except FileNotFoundError:
                is_there = False
            if is_there:
                try:
                    yield file
                finally:
                    # A child that was forked meanwhile has the file too; the lock must not stay.
                    fcntl.flock(file, fcntl.LOCK_UN)
                return


_live: weakref.WeakSet[CachedSet] = weakref.WeakSet()


def _renew_locks() -> None:
    """In a forked child: whoever held a lock in the parent is not here to let go of it."""
    for cached in _live:
        cached._make_locks()


os.register_at_fork(after_in_child=_renew_locks)


class CachedSet:
    """A set whose remote shards are downloaded when first read. Has the methods of PackSet."""

    is_local = False  # Reading may be a download.

    def __init__(
        self, remote: _core.PackSet, cache: ShardCache, verify: bool, options: tuple[Any, ...]
    ) -> None:
        self._remote = remote
        self._cache = cache
        self._verify = verify
        self._options = options
        self._starts = [0, *itertools.accumulate(records for records, _ in remote.extents())]
        self._make_locks()
        _live.add(self)
        self._local: dict[int, _LocalShard] = {}
        self._repaired: set[int] = set()

    def _make_locks(self) -> None:
        self._lock = threading.Lock()
        self._shard_locks: dict[int, threading.Lock] = {}

    def __len__(self) -> int:
        return len(self._remote)

    @property
    def shard_count(self) -> int:
        return self._remote.shard_count

    def shard_info(self, shard: int) -> dict[str, Any]:
        return self._remote.shard_info(shard)

    def offsets(self, shard: int) -> list[int]:
        return self._remote.offsets(shard)

    def extents(self) -> list[tuple[int, int]]:
        return self._remote.extents()

    def keys_digests(self) -> list[int]:
        return self._remote.keys_digests()

    def find(self, key: str) -> int | None:
        return self._remote.find(key)

    def keys(self, begin: int, end: int) -> list[str]:
        return self._remote.keys(begin, end)

    def read(self, number: int) -> Any:
        (found,) = self.read_many([number], keep_errors=True)
        if not isinstance(found, BaseException):
            return found
        # Of a damaged sample, the sound files can still be read.
        ((shard, (_, inside)),) = self.by_shard([number])
        return self.read_shard(shard, lambda set, first: set.read(first + inside[0]))

    def read_many(
        self, numbers: Iterable[int], keep_errors: bool = False, jobs: int = 0
    ) -> list[Any]:
        wanted = list(numbers)
        found: list[Any] = [None] * len(wanted)
        for shard, (places, inside) in self.by_shard(wanted):
            for place, record in zip(places, self._read_records(shard, inside, jobs)):
                if isinstance(record, BaseException) and not keep_errors:
                    raise record
                found[place] = record
        return found

    def by_shard(self, numbers: Iterable[int]) -> list[tuple[int, tuple[list[int], list[int]]]]:
        """Samples by the shard they are in: their places among the numbers, and their numbers in
        the shard."""
        shards: dict[int, tuple[list[int], list[int]]] = {}
        for place, number in enumerate(numbers):
            wanted = self._checked(operator.index(number))
            shard = bisect.bisect_right(self._starts, wanted) - 1
            places, inside = shards.setdefault(shard, ([], []))
            places.append(place)
            inside.append(wanted - self._starts[shard])
        return list(shards.items())

    def read_shard(
        self,
        shard: int,
        read: Callable[[_core.PackSet, int], _Read],
        is_sound: Callable[[_Read], bool] = lambda found: True,
    ) -> _Read:
        """What `read` gives for the set that has this shard, and the number of its first sample
        there. A copy that proves to be damaged is fetched again, once."""
        local = self._open(shard)
        if local is None:
            return read(self._remote, self._starts[shard])
        try:
            found = read(local.set, 0)
            if is_sound(found) or not self._drop_damaged(shard, local):
                return found
        except _core.CorruptError:
            if not self._drop_damaged(shard, local):
                raise
        again = self._open(shard)
        assert again is not None  # As the first time.
        return read(again.set, 0)

    def read_at(self, shard: int, offset: int) -> Any:
        local = self._open(shard)
        if local is None:
            return self._remote.read_at(shard, offset)
        return local.set.read_at(0, offset)

    def localized(self) -> _core.PackSet:
        """The same set from files alone: all of it is downloaded now."""
        paths = []
        for shard in range(self.shard_count):
            local = self._open(shard)
            paths.append(local.path if local else self.shard_info(shard)["path"])
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise ValueError(f"the limit of the cache is below the size of the set: {missing[0]}")
        return _core.pack_open(paths, *self._options)

    def _checked(self, number: int) -> int:
        total = len(self)
        from_front = number + total if number < 0 else number
        if not 0 <= from_front < total:
            raise IndexError(f"sample {number} of a set of {total}")
        return from_front

    def _read_records(self, shard: int, numbers: list[int], jobs: int) -> list[Any]:
        def read(set: _core.PackSet, first: int) -> list[Any]:
            return set.read_many([first + number for number in numbers], True, jobs)

        def is_sound(found: list[Any]) -> bool:
            return not any(isinstance(record, _core.CorruptError) for record in found)

        return self.read_shard(shard, read, is_sound)

    def _drop_damaged(self, shard: int, local: _LocalShard) -> bool:
        """Whether another copy may be better: this one is gone then."""
        with self._lock_of(shard):
            if self._local.get(shard) is local:
                if shard in self._repaired:
                    return False
                self._repaired.add(shard)
                del self._local[shard]
                self._cache.remove(local.name)
        return True

    def _lock_of(self, shard: int) -> threading.Lock:
        with self._lock:
            return self._shard_locks.setdefault(shard, threading.Lock())

    def _open(self, shard: int) -> _LocalShard | None:
        """The downloaded shard; None for one that is local anyway."""
        local = self._local.get(shard)
        if local is None:
            with self._lock_of(shard):
                local = self._local.get(shard)
                if local is None:
                    info = self._remote.shard_info(shard)
                    if "://" not in info["path"]:
                        return None
                    local = self._local[shard] = self._download(shard, info)
                    self._close_deleted()
        if local.is_due():
            self._cache.use(local.name)
        return local

    def _download(self, shard: int, info: dict[str, Any]) -> _LocalShard:
        name = self._cache.name_of(info)
        path = str(self._cache.path_of(name))
        for _ in range(_ATTEMPTS):
            if not os.path.exists(path):
                self._cache.download(self._remote, shard, name, info["size"])
                if self._verify:
                    self._check_whole(name, path)
            try:
                local = _core.pack_open([path], *self._options)
                if local.shard_info(0)["footer_crc32c"] == info["footer_crc32c"]:
                    self._cache.use(name)
                    return _LocalShard(local, name, path)
            except (FileNotFoundError, _core.CorruptError):
                pass  # Deleted by another process, or damaged.
            self._cache.remove(name)
        raise OSError(f"{info['path']}: {_ATTEMPTS} downloads gave no sound copy in {path}")

    def _check_whole(self, name: str, path: str) -> None:
        findings = _core.pack_verify(path)[3]
        for finding in findings:
            if finding["severity"] == "error":
                self._cache.remove(name)
                raise _core.CorruptError(finding["message"])

    def _close_deleted(self) -> None:
        """Lets go of shards that are gone from the folder: their space is free only then."""
        for shard, local in list(self._local.items()):
            if not os.path.exists(local.path):
                self._local.pop(shard, None)


class _LocalShard:
    """A shard of the cache, open."""

    def __init__(self, set: _core.PackSet, name: str, path: str) -> None:
        self.set = set
        self.name = name
        self.path = path
        self._noted = time.monotonic()

    def is_due(self) -> bool:
        now = time.monotonic()
        if now - self._noted < _USE_SECONDS:
            return False
        self._noted = now
        return True


def open_cached(
    references: list[str],
    options: tuple[Any, ...],
    folder: str,
    limit: int | None,
    verify: bool,
) -> CachedSet:
    remote = _core.pack_open(references, *options)
    return CachedSet(remote, ShardCache(Path(folder), limit), verify, options)
