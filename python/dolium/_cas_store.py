"""dolium.cas.Store: a folder that keeps each chunk of the files put into it once."""

from __future__ import annotations

import datetime
import io
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._plans import Plan
from ._reports import Finding, VerifyReport

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MEMORY = 256 << 20

Progress = Callable[[int, int, int], object]


class Version(NamedTuple):
    """What a name stood for at some time, and what storing it added."""

    name: str
    sequence: int
    created: int  # nanoseconds since 1970
    kind: str  # "file", "folder" or "paths"
    hash: str  # of the file, or of the manifest of a folder
    files: int
    bytes: int
    chunks: int
    new_chunks: int
    new_bytes: int
    stored_bytes: int
    aligned: bool
    # What put() left out, as (path, reason): only the version that it gives knows.
    skipped: tuple[tuple[str, str], ...] = ()
    host: str = ""  # that it was put on; older versions do not know
    tags: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """What get(), open() and others take: `name@3`."""
        return f"{self.name}@{self.sequence}"


class StoreEntry(NamedTuple):
    """A file, folder or link of a version, or a pipe or device."""

    path: str
    type: str  # "file", "folder", "link", "fifo", "char" or "block"
    mode: int
    modified: int  # nanoseconds since 1970
    size: int
    hash: str | None
    target: str | None
    owner: tuple[int, int] | None  # numbers of user and group; older versions have none
    xattrs: dict[str, bytes]
    inode: int  # the same for all names of a file that had several; else 0
    sparse: bool
    device: tuple[int, int] | None  # major and minor number


class Restored(tuple[int, int]):
    """What get() restored: (files, bytes); and `skipped`, what it could not, as (path, reason)."""

    skipped: tuple[tuple[str, str], ...]

    def __new__(cls, files: int, bytes: int, skipped: tuple[tuple[str, str], ...]) -> Restored:
        restored = super().__new__(cls, (files, bytes))
        restored.skipped = skipped
        return restored

    @property
    def files(self) -> int:
        return self[0]

    @property
    def bytes(self) -> int:
        return self[1]


class KeepChoice(NamedTuple):
    """What forget() does with a version: without reasons to keep it, it goes."""

    version: Version
    reasons: tuple[str, ...]

    @property
    def kept(self) -> bool:
        return bool(self.reasons)


Damage = Finding  # an older name


class StoredFile(io.RawIOBase):
    """A file of a store, open for reading. Every chunk that is read is checked.

    Reads of any range fetch only what they need. gc leaves it alone while it is open. Reads at
    an offset (`pread`) may come from many threads.
    """

    def __init__(self, file: _core.CasFile) -> None:
        self._file = file
        self._position = 0

    @property
    def size(self) -> int:
        return self._file.size

    @property
    def hash(self) -> str:
        return self._file.hash

    def pread(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset` on, wherever the file stands."""
        if size < 0 or offset < 0:
            raise ValueError("size and offset are not negative")
        return self._file.read(offset, size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        count = self._file.readinto(self._position, buffer)
        self._position += count
        return count

    def readall(self) -> bytes:
        data = self._file.read(self._position, max(0, self.size - self._position))
        self._position += len(data)
        return data

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}
        if whence not in base:
            raise ValueError(f"whence {whence} is none of 0, 1, 2")
        if base[whence] + offset < 0:
            raise ValueError("seek to before the beginning")
        self._position = base[whence] + offset
        return self._position

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _several(texts: Iterable[str], what: str) -> list[str]:
    """A list of texts; one text alone is a slip."""
    if isinstance(texts, str):
        raise TypeError(f"{what} are several texts, not one")
    return list(texts)


class Store:
    """A local store. Several processes and threads may use one at the same time.

    A version is named as `name`, for the latest, or `name@3`; a file also by its hash.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = _core.CasStore(path)

    @classmethod
    def init(cls, path: str | os.PathLike[str]) -> Store:
        """Makes an empty store in a folder that is new or empty."""
        _core.cas_init(path)
        return cls(path)

    @property
    def path(self) -> str:
        return self._store.path

    def __repr__(self) -> str:
        return f"dolium.cas.Store({self.path!r})"

    def put(
        self,
        *paths: str | os.PathLike[str],
        name: str | None = None,
        align_entries: bool = False,
        reread: bool = False,
        memory: int = _MEMORY,
        jobs: int = 0,
        progress: Progress | None = None,
        exclude: Iterable[str] = (),
        one_file_system: bool = False,
        tags: Iterable[str] = (),
        host: str | None = None,
        owners: bool = True,
    ) -> Version:
        """Stores files and folders as the next version of a name (of one path, its base name).

        With `align_entries`, chunks of ShardPack and Neuroglancer shards end where their entries
        end; hashes are then not those of Xet. Files of folders that have not changed since the
        last put of the name are not read, but with `reread`. What cannot be read, changes whenever
        it is read, or is a socket is left out: `skipped` of the version names it.

        `exclude` are patterns of what is left out on purpose: `*.tmp` what is called so, at any
        depth; `a/b` what has these names; `/a` what lies right in the folder; `a/` folders alone;
        a name `**` stands for any number of folders. `one_file_system` does not enter folders
        where others are mounted. `host` is the name of this machine unless given. `owners=False`
        keeps none.
        """
        if name is None:
            if len(paths) != 1:
                raise ValueError("several paths need a name")
            name = pathlib.PurePath(paths[0]).name
        return Version(
            **self._store.put(
                paths,
                name,
                align_entries,
                reread,
                memory,
                jobs,
                progress,
                _several(exclude, "exclude"),
                one_file_system,
                _several(tags, "tags"),
                host,
                owners,
            )
        )

    def put_bytes(self, data: Buffer, name: str, *, jobs: int = 0) -> Version:
        """Stores bytes as a file."""
        return Version(**self._store.put_bytes(data, name, jobs=jobs))

    def get(
        self,
        reference: str,
        output: str | os.PathLike[str],
        *,
        force: bool = False,
        jobs: int = 0,
        progress: Progress | None = None,
        path: str | os.PathLike[str] | None = None,
        skip_damaged: bool = False,
        owners: bool = True,
    ) -> Restored:
        """Restores a version as `output`, checked; with `path`, what has that path in a folder.
        Gives the number of files and of bytes.

        With `skip_damaged`, damaged files are left out; `skipped` of what it gives names them, and
        also owners and attributes that may not be set, and devices that may not be made.
        `owners=False` leaves all to whoever restores.
        """
        return Restored(
            *self._store.get(reference, output, force, jobs, progress, path, skip_damaged, owners)
        )

    def forget(
        self,
        *names: str,
        keep_last: int = 0,
        keep_daily: int = 0,
        keep_weekly: int = 0,
        keep_monthly: int = 0,
        keep_yearly: int = 0,
        tags: Iterable[str] = (),
        host: str | None = None,
        dry_run: bool = False,
    ) -> list[KeepChoice]:
        """Removes versions of the names, or of all, but for those that a rule keeps: the latest,
        and the latest of each day, week, month and year that has one. gc() frees the space.

        With `tags` (each a tag, or several that a version must all have, with commas) or `host`,
        all other versions stay, and do not count. Gives what became of each version, the latest of
        a name first.
        """
        choices = self._store.forget(
            names,
            keep_last,
            keep_daily,
            keep_weekly,
            keep_monthly,
            keep_yearly,
            _several(tags, "tags"),
            host or "",
            dry_run,
        )
        return [KeepChoice(Version(**version), reasons) for version, reasons in choices]

    def export(
        self,
        output: str | os.PathLike[str],
        *references: str,
        xorbs: str | os.PathLike[str] | None = None,
        upload: bool = False,
        force: bool = False,
        jobs: int = 0,
    ) -> dict[str, int]:
        """Writes an MDB shard with the files of versions, or of all, and copies the xorbs that they
        need to the folder `xorbs`.

        With `upload`, the shard is as clients send it: without footer, and with the SHA-256 of each
        file.
        """
        return self._store.export(output, references, xorbs, upload, force, jobs)

    def import_shard(
        self,
        shard: str | os.PathLike[str],
        name: str,
        *,
        xorbs: str | os.PathLike[str] | None = None,
    ) -> Version:
        """Takes the files of an MDB shard as a version in which each is called by its hash.

        Everything is checked; xorbs that the store lacks are copied from the folder `xorbs`.
        """
        return Version(**self._store.import_shard(shard, name, xorbs))

    def open(self, reference: str, path: str | os.PathLike[str] | None = None) -> StoredFile:
        """Opens a file, by its version or hash, or one of a folder, by its path there.

        Names that are not UTF-8 are as os.fsdecode() gives them.
        """
        return StoredFile(self._store.open(reference, path))

    def read(self, reference: str, path: str | os.PathLike[str] | None = None) -> bytes:
        """All of a file."""
        with self.open(reference, path) as file:
            return file.readall()

    def ls(self, reference: str | None = None) -> list[Any]:
        """All names; or what is in a version, as a list of StoreEntry."""
        if reference is None:
            return self._store.names()
        return [StoreEntry(**entry) for entry in self._store.entries(reference)]

    def log(self, name: str | None = None, *, tags: Iterable[str] = ()) -> list[Version]:
        """The versions of a name, or of all, oldest first; with `tags`, those that have any of
        them."""
        wanted = set(_several(tags, "tags"))
        names = self._store.names() if name is None else [name]
        versions = [Version(**version) for each in names for version in self._store.log(each)]
        if wanted:
            versions = [version for version in versions if wanted & set(version.tags)]
        return sorted(versions, key=lambda version: version.created)

    def stats(self, reference: str | None = None, second: str | None = None) -> dict[str, Any]:
        """Sizes and ratios of the store; or what one version is made of and added; or, of two, how
        many chunks and bytes the second has, and how many the first has not.

        If one of two was put with `align_entries`, also what it would be without, as
        `not_aligned`, and the bytes that this spares, as `gain`: both are read for it.
        """
        if second is not None:
            if reference is None:
                raise TypeError("stats: a second version needs a first")
            return self._store.compare(reference, second)
        return self._store.stat() if reference is None else self._store.stat_version(reference)

    def stat(self, reference: str | None = None) -> dict[str, Any]:
        """An older name of stats()."""
        return self.stats(reference)

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """An older name of stats() of two versions."""
        return self.stats(first, second)

    def rm(self, reference: str) -> int:
        """Removes a version, or all of a name; how many. gc() frees the space."""
        return self._store.remove(reference)

    def gc(
        self,
        *,
        grace: float | datetime.timedelta = datetime.timedelta(days=1),
        dry_run: bool = False,
        repack: int = 50,
    ) -> dict[str, Any]:
        """Removes what no version needs and is older than `grace` (seconds, not negative).

        Xorbs of whose bytes less than `repack` percent is needed are replaced by new ones; 0: never.
        `not_repacked` of what it gives says what kept it from that, such as a full disk.
        """
        if not 0 <= repack <= 100:
            raise ValueError(f"repack is a percentage, not {repack}")
        seconds = grace.total_seconds() if isinstance(grace, datetime.timedelta) else grace
        return self._store.gc(seconds, dry_run, repack)

    def verify(
        self,
        *,
        quick: bool = False,
        deep: bool = False,
        quarantine: bool = False,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> VerifyReport:
        """Everything that is damaged, and the files it damages. Reads all, unless `quick`; `deep`
        recomputes what can be recomputed, which is what reading all does here. With `quarantine`,
        what is damaged is moved away, so that a put stores it again."""
        return self._store.verify(quick, deep, quarantine, jobs, progress)

    def plan_export(
        self,
        target: str | os.PathLike[str],
        *references: str,
        xorbs: str | os.PathLike[str] | None = None,
        upload: bool = False,
        force: bool = False,
    ) -> Plan:
        """Plans what export() does, with the same options: an MDB shard that lists the files of
        versions (all, if none is named), and, with `xorbs`, a copy in that folder of every xorb
        that they need. Each xorb is a task."""
        return self._store.plan_export(list(references), target, xorbs, upload, force)

    def reindex(self) -> int:
        """Rebuilds the index from the shards; how many those are."""
        return self._store.reindex()
