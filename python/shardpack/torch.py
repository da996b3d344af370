"""Samples for torch: datasets for torch.utils.data.DataLoader, and one that can be resumed.

    import shardpack.torch

    dataset = shardpack.torch.IterableDataset(shardpack.open(...), 64, shuffle=True, seed=1)
    loader = shardpack.torch.DataLoader(dataset, num_workers=4)
    for batch in loader:
        train(batch)
        save(loader.state_dict())

Workers may be started in any way (fork, forkserver, spawn): what travels to them is how to open the
set, and each opens it for itself. Shared memory holds five numbers of an IterableDataset, and what
torch puts there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch.distributed  # type: ignore[import-not-found,import-untyped]
import torch.utils.data  # type: ignore[import-not-found,import-untyped]

from dolium import _core

from ._loader import Loader, Progress, Shuffle

if TYPE_CHECKING:
    from dolium._core import PackRecord as Record

    from ._dataset import Dataset
    from ._mixture import Mixture

__all__ = ["DataLoader", "IterableDataset", "MapDataset", "sample_dict"]

# Workers of a DataLoader install handlers of signals that end them, over the one that turns a shard
# that is cut short into an error. In each process it is put back once.
_guard_is_kept = False


def _keep_guard() -> None:
    global _guard_is_kept
    if not _guard_is_kept:
        _core.keep_map_guard()
        _guard_is_kept = True


def _forget_guard() -> None:
    global _guard_is_kept
    _guard_is_kept = False


os.register_at_fork(after_in_child=_forget_guard)


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
        _keep_guard()
        return self._transform(self._dataset[index])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """A batch at once: newer versions of torch ask for it."""
        _keep_guard()
        return [self._transform(record) for record in self._dataset[indices]]


class IterableDataset(torch.utils.data.IterableDataset):
    """Batches in the order of `Dataset.loader`, whose options it takes.

    Each of K workers makes every K-th batch, so that a DataLoader delivers all of them once, in
    order. It must have `batch_size=None`, for the batches are made here. Rank and world are those
    of torch.distributed, if that is initialised and they are not given.

    `transform` is a function of the Record (see `sample_dict`), `collate` one of the list of its
    results (torch's own, by default).

    Each pass is an epoch. torch's DataLoader with workers that live for one pass gives each a copy
    of this object, so call `set_epoch` before each pass; persistent workers go on with the next
    epoch, or the one that is set. `shardpack.torch.DataLoader` needs neither, and knows where the
    run is, as torchdata's StatefulDataLoader does.
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
        # Whether workers made batches of which nothing is known here; and where the next pass of
        # workers begins: how often that was set, seed, epoch, position.
        self._shared = torch.zeros(5, dtype=torch.int64).share_memory_()
        self._seen = 0

    def _loader(self) -> Loader:
        if self._made is None:
            rank, world = self._place or _rank_and_world()
            self._made = self._dataset.loader(rank=rank, world=world, **self._options)
        return self._made

    def _words(self) -> np.ndarray:
        return self._shared.numpy().view(np.uint64)

    def _begin_workers_here(self) -> None:
        """Has workers begin their next pass where the loader of this process is."""
        loader, words = self._loader(), self._words()
        self._seen += 1
        words[:] = [0, self._seen, loader._seed, loader._epoch, loader._position]

    def _worker_loader(self, info: Any) -> Loader:
        if self._of_worker is None:
            self._of_worker = self._loader()._for_worker(info.id, info.num_workers)
        return self._of_worker

    def _known_loader(self) -> Loader:
        """The loader of this process, if it knows what was delivered."""
        if self._words()[0]:
            raise RuntimeError(
                "workers of a torch DataLoader made the batches, so that only they know where the "
                "run is; use shardpack.torch.DataLoader or torchdata's StatefulDataLoader, and the "
                "state_dict() of the loader"
            )
        return self._loader()

    def __getstate__(self) -> dict[str, Any]:
        self._loader()
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self._shared.is_shared():  # a copy, not the dataset of a worker
            self._shared = self._shared.clone().share_memory_()

    def __len__(self) -> int:
        """How many batches an epoch has, for this rank."""
        return len(self._loader())

    def __iter__(self) -> Iterator[Any]:
        info = torch.utils.data.get_worker_info()
        if info is None:
            self._words()[0] = 0
            return iter(self._loader())
        _keep_guard()
        loader, words = self._worker_loader(info), self._words()
        if words[1] != self._seen:
            self._seen, loader._seed, epoch, position = words[1:].tolist()
            loader._start_at(epoch, position)
        batches = iter(loader)
        if self._tells_skipped:
            return _with_skipped(batches, loader)
        words[0] = 1
        return batches

    def set_epoch(self, epoch: int) -> None:
        """Has the next pass begin this epoch; or go on in it, where a state was loaded."""
        loader = self._loader()
        loader._has_begun |= bool(self._words()[0])
        loader.set_epoch(epoch)
        self._begin_workers_here()

    @property
    def skipped(self) -> int:
        """How many samples `on_error="skip"` left out; RuntimeError as of state_dict."""
        return self._known_loader().skipped

    def state_dict(self) -> dict[str, int]:
        """Where the run is. RuntimeError if workers of a torch DataLoader have made batches: only
        a `shardpack.torch.DataLoader`, and StatefulDataLoader, know which were delivered. In a
        worker, where that worker is: such a state is for the same worker of as many."""
        info = torch.utils.data.get_worker_info()
        if info is None:
            return self._known_loader().state_dict()
        return {**self._worker_loader(info).state_dict(), **self._place_in_workers(info)}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Has the next pass go on from where a state was taken, be it of this class or a Loader."""
        info = torch.utils.data.get_worker_info()
        place = {} if info is None else self._place_in_workers(info)
        found = {name: state[name] for name in _PLACE if name in state}
        if found != place:
            raise ValueError(
                f"the state is of {_place_text(found)}, and is to be loaded by {_place_text(place)}"
            )
        if info is None:
            self._loader().load_state_dict(state)
            self._begin_workers_here()
        else:
            loader = self._worker_loader(info)
            loader.load_state_dict(state)
            loader._wants_rest = True
            self._seen = int(self._words()[1])

    def _place_in_workers(self, info: Any) -> dict[str, int]:
        share = self._loader()._share
        size = share.batch_size * share.world
        return dict(zip(_PLACE, (info.id, info.num_workers, size)))


# What the state of a worker says of it besides.
_PLACE = ("worker", "workers", "global_batch")


def _place_text(place: Mapping[str, int]) -> str:
    if not place:
        return "no worker"
    return "worker {worker} of {workers} with global batches of {global_batch}".format_map(place)


class DataLoader(torch.utils.data.DataLoader):
    """torch's DataLoader over an IterableDataset, which knows which batches were delivered:
    `state_dict` is exact, with any number of workers, and may be loaded with another. Each pass is
    an epoch."""

    def __init__(self, dataset: IterableDataset, **options: Any) -> None:
        super().__init__(dataset, batch_size=None, **options)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if self.num_workers == 0:
            return super().__iter__()
        progress = self.dataset._loader()._begin_pass()
        self.dataset._begin_workers_here()
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
        return self.dataset._loader().skipped

    def set_epoch(self, epoch: int) -> None:
        self.dataset.set_epoch(epoch)

    def state_dict(self) -> dict[str, int]:
        return self.dataset._loader().state_dict()

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
