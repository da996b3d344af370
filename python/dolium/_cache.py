"""Where what is read from remote locations is kept."""

from __future__ import annotations

import os
from typing import NamedTuple, Union

from . import _core

Path = Union[str, "os.PathLike[str]"]


class Cache(NamedTuple):
    """A folder that keeps what is read from remote locations, in blocks of 64 KiB.

    Processes may share it; together they keep at most `limit` bytes. Every block is bound to the
    state of its object and has a checksum. With `offline`, servers are not asked at all.
    """

    folder: Path
    limit: int = 10_000_000_000
    offline: bool = False


AnyCache = Union[Cache, Path]


def set_cache(cache: AnyCache | None) -> None:
    """The cache of all that is opened from now on without a `cache` of its own: a Cache, a folder,
    or text as the option `--cache` takes it (`"/ssd/cache,20GB"`, `"/ssd/cache,offline"`). With
    None, what the environment variable DOLIUM_CACHE says."""
    _core.set_cache(cache)
