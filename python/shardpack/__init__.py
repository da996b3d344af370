"""shardpack: training sets of small files in few large ones.

    with shardpack.Writer("train-000000.shardpack", compression="lz4") as writer:
        writer.write("images17/image194", {"left.jpg": left, "meta.json": b"{}"})

    dataset = shardpack.open("train-{000000..000007}.shardpack")
    for record in dataset.records():
        for entry in record.file_entries():
            entry.name, entry.content_type, entry.data

    dataset[123]                  # by number
    dataset[[5, 1, 9]]            # many at once, decoded on threads
    dataset["images17/image194"]  # by key; get() gives None if there is none

    loader = dataset.loader(batch_size=64, shuffle=True, seed=1)
    for batch in loader:
        ...
    state = loader.state_dict()   # three numbers: seed, epoch, position

The format is open: see docs/formats/shardpack.md. Calls let go of the GIL while they read, write
or decode more than a little, and may come from many threads.
"""

from __future__ import annotations

from dolium._core import (
    CorruptError,
    EntryCorruptError,
    IncompleteError,
    IndexCorruptError,
    LimitExceededError,
    NotShardPackError,
    RecordCorruptError,
    SectionCorruptError,
    TrailingDataError,
    UnsupportedCodecError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
    __version__,
)
from dolium._core import PackEntry as Entry
from dolium._core import PackRecord as Record
from dolium._decode import Metadata, register_decoder

from ._dataset import Dataset, Offset, cache, join, open, overlay, stream
from ._loader import Loader
from ._mixture import Mixture, mix
from ._plans import (
    plan_compact,
    plan_create,
    plan_export,
    plan_import,
    plan_merge,
    plan_reshard,
    plan_shuffle,
    plan_sort,
    plan_split,
    plan_subset,
)
from ._tools import Finding, RepairReport, VerifyReport, repair, verify
from ._writer import ShardReport, Writer

__all__ = [
    "CorruptError",
    "Dataset",
    "Entry",
    "EntryCorruptError",
    "Finding",
    "IncompleteError",
    "IndexCorruptError",
    "LimitExceededError",
    "Loader",
    "Metadata",
    "Mixture",
    "NotShardPackError",
    "Offset",
    "Record",
    "RecordCorruptError",
    "RepairReport",
    "SectionCorruptError",
    "ShardReport",
    "TrailingDataError",
    "UnsupportedCodecError",
    "UnsupportedFeatureError",
    "UnsupportedVersionError",
    "VerifyReport",
    "Writer",
    "__version__",
    "cache",
    "join",
    "mix",
    "open",
    "overlay",
    "plan_compact",
    "plan_create",
    "plan_export",
    "plan_import",
    "plan_merge",
    "plan_reshard",
    "plan_shuffle",
    "plan_sort",
    "plan_split",
    "plan_subset",
    "register_decoder",
    "repair",
    "stream",
    "verify",
]
