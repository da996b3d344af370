"""dolium: one engine for sharded chunk storage.

    with dolium.ShardedWriter("seg", dolium.ShardingSpec(0, 6, 4)) as writer:
        writer.add(7, b"...")

    chunks = dolium.open("seg")
    chunks[7]
    chunks.get_many([7, 8, 9])

Neuroglancer volumes are arrays: see Volume, and dolium.volume for bulk work on them.

    v = dolium.Volume.open("https://host/seg")
    v[100:200, 50:80, 7]

DVID exports are read as volumes too; dolium.dvid has their shards and blocks. Files have names made
from their bytes: see dolium.cas.

Whatever a location holds, dolium.info() says what it is, dolium.stats() counts it and
dolium.verify() checks it: sets, volumes, exports, cas stores.

Locations are paths or URLs (file, http, https, precomputed, gs). With set_cache(), what is read from
remote ones is kept on disk. Keys of sharded sets are ints, those of plain folders are file names.
Calls let go of the GIL while they read, write or decode, and may come from many threads.
"""

from __future__ import annotations

import os

from . import cas, dvid, skeleton, volume
from ._arrays import decode_chunk, downsample_array, encode_chunk
from ._cache import AnyCache, Cache, set_cache
from ._core import (
    ConflictError,
    Container,
    CorruptError,
    EntryIterator,
    Error,
    ShardedWriter,
    ShardingSpec,
    __version__,
    choose_sharding,
    convert,
    info,
    plan_convert,
    stats,
    target_parameters,
    verify,
    write_sharded,
)
from ._plans import Plan, find_plan, run_plan, run_task
from ._reports import (
    ConvertReport,
    Distribution,
    Entry,
    Finding,
    JobReport,
    StatsReport,
    TaskReport,
    VerifyReport,
    VolumeReport,
    WriteSummary,
)
from ._volume import Volume, VolumeArray

__all__ = [
    "Cache",
    "ConflictError",
    "Container",
    "ConvertReport",
    "CorruptError",
    "Distribution",
    "Entry",
    "EntryIterator",
    "Error",
    "Finding",
    "JobReport",
    "Plan",
    "ShardedWriter",
    "ShardingSpec",
    "StatsReport",
    "TaskReport",
    "VerifyReport",
    "Volume",
    "VolumeArray",
    "VolumeReport",
    "WriteSummary",
    "__version__",
    "cas",
    "choose_sharding",
    "convert",
    "decode_chunk",
    "downsample_array",
    "dvid",
    "encode_chunk",
    "find_plan",
    "info",
    "open",
    "plan_convert",
    "run_plan",
    "run_task",
    "set_cache",
    "skeleton",
    "stats",
    "target_parameters",
    "verify",
    "volume",
    "write_sharded",
]


def open(
    location: str | os.PathLike[str],
    *,
    spec: ShardingSpec | dict | str | os.PathLike[str] | None = None,
    format: str | None = None,
    unfinished: bool = False,
    cache_bytes: int = 256 << 20,
    xorbs: str | os.PathLike[str] | None = None,
    cache: AnyCache | None = None,
    sharding: ShardingSpec | dict | str | os.PathLike[str] | None = None,
) -> Container:
    """Opens a set: a folder of shards, one shard, or a plain folder of files.

    `spec` is the spec where no info file gives it: a ShardingSpec, a dict, JSON text or the name of
    a file with it (`sharding` is its older name). `format` skips detection. `unfinished` allows a set whose writing has
    not ended. `cache_bytes` bounds the index blocks that are kept in memory. `xorbs` is the folder
    with the xorbs of a Xet shard, where that is not the folder `xorbs` beside it. `cache` keeps on
    disk what is read from a remote location: a Cache, a folder, or text as `--cache` takes it.
    """
    return Container(location, spec, format, unfinished, cache_bytes, xorbs, cache, sharding)
