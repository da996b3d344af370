"""Tuples of a set whose shards are downloaded when first read."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from dolium import _core

from ._reading import mean_bytes

if TYPE_CHECKING:
    from ._dataset import Dataset

# How much is read at once by iteration.
_READ_SAMPLES = 256
_READ_BYTES = 8 << 20


class CachedTuples:
    """The same as _core.PackTuples, shard by shard."""

    def __init__(
        self, dataset: Dataset, names: Sequence[str], allows_missing: bool, views: bool
    ) -> None:
        if not names:
            raise ValueError("tuples of no files")
        self._dataset = dataset
        self._allows_missing = allows_missing
        self._views = views
        self.names = list(names)

    def __len__(self) -> int:
        return len(self._dataset)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        step = max(1, min(_READ_SAMPLES, _READ_BYTES // max(1, mean_bytes(self._dataset))))
        for begin in range(0, len(self), step):
            numbers = range(begin, min(begin + step, len(self)))
            try:
                columns = self._many(numbers)
            except Exception:
                # One by one, those before the sample that cannot be read come first.
                yield from map(self._one, numbers)
            else:
                yield from zip(*columns)

    def __getitem__(self, index: SupportsIndex | slice | Iterable[int]) -> tuple[Any, ...]:
        if isinstance(index, slice):
            return self._many(range(*index.indices(len(self))))
        if hasattr(index, "__index__") and getattr(index, "ndim", 0) == 0:
            return self._one(index.__index__())
        return self._many(index)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<shardpack.Tuples ({', '.join(self.names)}) of {len(self)} samples>"

    def _one(self, number: int) -> tuple[Any, ...]:
        return tuple(column[0] for column in self._many([number]))

    def _many(self, numbers: Iterable[int]) -> tuple[list[Any], ...]:
        wanted = list(numbers)
        columns: tuple[list[Any], ...] = tuple([None] * len(wanted) for _ in self.names)
        own: Any = self._dataset._own()
        for shard, (places, inside) in own.by_shard(wanted):
            read = functools.partial(self._of_shard, inside)
            for column, found in zip(columns, own.read_shard(shard, read)):
                for place, value in zip(places, found):
                    column[place] = value
        return columns

    def _of_shard(self, inside: list[int], set: _core.PackSet, first: int) -> tuple[Any, ...]:
        # Not kept: it would hold on to a shard that is deleted from the cache.
        tuples = _core.PackTuples(
            self._dataset, set, self.names, self._allows_missing, self._views
        )
        return tuples[[first + number for number in inside]]
