"""Samples for torch: datasets for torch.utils.data.DataLoader, and one that can be resumed.

    import shardpack.torch

    dataset = shardpack.torch.IterableDataset(shardpack.open(...), 64, shuffle=True, seed=1)
    loader = shardpack.torch.DataLoader(dataset, num_workers=4)
    for batch in loader:
        train(batch)
        save(loader.state_dict())

Workers may be started in any way (fork, forkserver, spawn): what travels to them is how to open the
set, and each opens it for itself. Nothing is put into shared memory but what torch puts there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch.distributed  # type: ignore[import-not-found,import-untyped]
import torch.utils.data  # type: ignore[import-not-found,import-untyped]

from ._loader import Loader, Progress, Shuffle

if TYPE_CHECKING:
    from dolium._core import PackRecord as Record

    from ._dataset import Dataset
    from ._mixture import Mixture

__all__ = ["DataLoader", "IterableDataset", "MapDataset", "sample_dict"]


def sample_dict(record: Record) -> dict[str, Any]:
    """The files of a sample by name, and its key as `__key__`: what is made of samples unless a
    transform is given, for Records do not travel between processes."""
    return {"__key__": record.key, **record.as_dict()}


class MapDataset(torch.utils.data.Dataset):
    """Samples by number. `transform` is a function of the Record."""

    def __init__(self, dataset: Dataset, transform: Callable[[Record], Any] | None = None) -> None:
        self._dataset = dataset
        self._transform = transform or sample_dict

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: int) -> Any:
        return self._transform(self._dataset[index])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """A batch at once: newer versions of torch ask for it."""
        return [self._transform(record) for record in self._dataset[indices]]


class IterableDataset(torch.utils.data.IterableDataset):
    """Batches in the order of `Dataset.loader`, whose options it takes.

    Each of K workers makes every K-th batch, so that a DataLoader delivers all of them once, in
    order. It must have `batch_size=None`, for the batches are made here. Rank and world are those
    of torch.distributed, if that is initialised and they are not given.

    `transform` is a function of the Record (see `sample_dict`), `collate` one of the list of its
    results (torch's own, by default).

    Each pass is an epoch. A DataLoader with workers gives each of its passes a copy of this object,
    so call `set_epoch` before each; `shardpack.torch.DataLoader` does that, and knows where the
    run is.
    """

    def __init__(
        self,
        dataset: Dataset | Mixture,
        batch_size: int = 1,
        *,
        transform: Callable[[Record], Any] | None = None,
        collate: Callable[[list[Any]], Any] | None = None,
        shuffle: Shuffle = False,
        rank: int | None = None,
        world: int | None = None,
        **options: Any,
    ) -> None:
        if (rank is None) != (world is None):
            raise ValueError("rank and world are given both, or none")
        self._dataset = dataset
        self._place = None if rank is None or world is None else (rank, world)
        self._options: dict[str, Any] = dict(
            options,
            batch_size=batch_size,
            shuffle=shuffle,
            decode=transform or sample_dict,
            collate=collate or torch.utils.data.default_collate,
        )
        # What all passes of this rank go by. Made when first needed, for rank and world may be
        # known only then.
        self._made: Loader | None = None
        # Whether workers deliver pairs: how many samples they skipped, and the batch.
        self._tells_skipped = False
        self._of_worker: Loader | None = None

    def _loader(self) -> Loader:
        if self._made is None:
            rank, world = self._place or _rank_and_world()
            self._made = self._dataset.loader(rank=rank, world=world, **self._options)
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        self._loader()
        return self.__dict__

    def __len__(self) -> int:
        """How many batches an epoch has, for this rank."""
        return len(self._loader())

    def __iter__(self) -> Iterator[Any]:
        info = torch.utils.data.get_worker_info()
        if info is None:
            return iter(self._loader())
        if self._of_worker is None:
            self._of_worker = self._loader()._for_worker(info.id, info.num_workers)
        batches = iter(self._of_worker)
        return _with_skipped(batches, self._of_worker) if self._tells_skipped else batches

    def set_epoch(self, epoch: int) -> None:
        """Has the next pass begin this epoch; or go on in it, where a state was loaded."""
        self._loader().set_epoch(epoch)

    @property
    def skipped(self) -> int:
        """How many samples `on_error="skip"` left out, without workers; with them, only
        `shardpack.torch.DataLoader` knows."""
        return self._loader().skipped

    def state_dict(self) -> dict[str, int]:
        """Where the run is, without workers; with them, only `shardpack.torch.DataLoader` knows."""
        return self._loader().state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Has the next pass go on from where a state was taken, be it of this class or a Loader."""
        self._loader().load_state_dict(state)


class DataLoader(torch.utils.data.DataLoader):
    """torch's DataLoader over an IterableDataset, which knows which batches were delivered:
    `state_dict` is exact, with any number of workers, and may be loaded with another. Each pass is
    an epoch. Workers live for one pass."""

    def __init__(self, dataset: IterableDataset, **options: Any) -> None:
        if options.get("persistent_workers"):
            raise ValueError("persistent workers would not learn where a pass begins")
        super().__init__(dataset, batch_size=None, **options)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if self.num_workers == 0:
            return super().__iter__()
        progress = self.dataset._loader()._begin_pass()
        # Workers get a copy of the dataset as it is now.
        self.dataset._tells_skipped = True
        try:
            batches = super().__iter__()
        finally:
            self.dataset._tells_skipped = False
        return _counted(batches, progress)

    @property
    def skipped(self) -> int:
        """How many samples `on_error="skip"` left out so far."""
        return self.dataset.skipped

    def set_epoch(self, epoch: int) -> None:
        self.dataset.set_epoch(epoch)

    def state_dict(self) -> dict[str, int]:
        return self.dataset.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        self.dataset.load_state_dict(state)


def _counted(batches: Iterator[Any], progress: Progress) -> Iterator[Any]:
    for number, (skipped, batch) in enumerate(batches, 1):
        progress.note(number, skipped)
        yield batch
    progress.end()


def _with_skipped(batches: Iterator[Any], loader: Loader) -> Iterator[tuple[int, Any]]:
    before = loader.skipped
    for batch in batches:
        yield loader.skipped - before, batch
        before = loader.skipped


def _rank_and_world() -> tuple[int, int]:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1
