"""Tuples of a set whose shards are downloaded when first read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

if TYPE_CHECKING:
    from dolium._core import PackRecord as Record

    from ._dataset import Dataset

_KEY = "__key__"


class CachedTuples:
    """The same as _core.PackTuples, by way of records."""

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
        return map(self._tuple, self._dataset.records())

    def __getitem__(self, index: SupportsIndex | slice | Iterable[int]) -> tuple[Any, ...]:
        found = self._dataset[index]
        if not isinstance(found, list):
            return self._tuple(found)
        tuples = [self._tuple(record) for record in found]
        return tuple([one[place] for one in tuples] for place in range(len(self.names)))

    def __repr__(self) -> str:
        return f"<shardpack.Tuples ({', '.join(self.names)}) of {len(self)} samples>"

    def _tuple(self, record: Record) -> tuple[Any, ...]:
        return tuple(self._value(record, name) for name in self.names)

    def _value(self, record: Record, name: str) -> Any:
        if name == _KEY:
            return record.key
        entry = record.get(name) if self._allows_missing else record[name]
        if entry is None:
            return None
        return entry.view() if self._views else entry.data
