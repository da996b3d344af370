"""Mixture: several sets as one, in given proportions."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dolium import _core

from ._dataset import Dataset
from ._loader import Loader, Shuffle, make_loader
from ._reading import (
    Reader,
    Windows,
    fingerprint,
    make_order,
    mean_bytes,
    numbers_at,
    window_threads,
)

if TYPE_CHECKING:
    from ._loader import _Share

Stop = Literal["first", "all", "samples"]

# Probed positions, as in _reading: those of several sources.
_PROBES = 16
# Orders that are kept, besides one for each source.
_SPARE_ORDERS = 16


def mix(
    sources: Iterable[tuple[Dataset, float]],
    *,
    stop: Stop = "first",
    samples: int = 0,
    seed: int = 0,
    block_size: int = 1024,
) -> Mixture:
    """Several sets as one: of each sample of it, `weight` says how often it is from which.

        mixture = shardpack.mix([(web, 0.7), (books, 0.3)], stop="all")
        loader = mixture.loader(64, shuffle=True)

    Every `block_size` positions hold the same numbers of samples of each set, in proportion to the
    weights, at least one. `stop` says how long an epoch is: until the first set was visited whole,
    until all were (those that end earlier begin again, shuffled again), or `samples` samples, where
    the next epoch goes on.
    """
    if stop == "samples" and samples < 1:
        raise ValueError('stop="samples" needs the number of samples')
    return Mixture(list(sources), stop, samples, seed, block_size)


class Mixture:
    """What `mix` gives. Immutable; may be shared by threads and pickled."""

    def __init__(
        self,
        sources: list[tuple[Dataset, float]],
        stop: Stop,
        samples: int,
        seed: int,
        block_size: int,
    ) -> None:
        self.sources = [dataset for dataset, _ in sources]
        self.weights = [float(weight) for _, weight in sources]
        self.seed = seed
        self._stop = stop
        self._samples = samples
        self._block_size = block_size
        self._mixture(seed, 0)  # Raises now, not later.

    def _mixture(self, seed: int, epoch: int) -> _core.PackMixture:
        totals = [len(source) for source in self.sources]
        return _core.PackMixture(
            totals, self.weights, self._stop, self._samples, seed, epoch, self._block_size
        )

    def __len__(self) -> int:
        """The samples of the first epoch; others may have a few more or less."""
        return len(self._mixture(self.seed, 0))

    def loader(
        self,
        batch_size: int = 1,
        *,
        shuffle: Shuffle = True,
        run_bytes: int = 8 << 20,
        window_runs: int = 16,
        **options: Any,
    ) -> Loader:
        """As `Dataset.loader`; numbers of samples that `on_error` gets are pairs of source and
        number. By windows, every rank and worker reads each source whole."""
        options.setdefault("seed", self.seed)
        return make_loader(self, batch_size, shuffle, run_bytes, window_runs, options)

    def _order_of(self, shuffle: str, run_bytes: int, window_runs: int) -> MixedOrder:
        return MixedOrder(self, shuffle, run_bytes, window_runs)

    def __repr__(self) -> str:
        return f"<shardpack.Mixture of {len(self.sources)} sets, {len(self)} samples an epoch>"


class MixedOrder:
    """The orders of a mixture."""

    def __init__(self, mixture: Mixture, shuffle: str, run_bytes: int, window_runs: int) -> None:
        self._mixture = mixture
        self._shape = (shuffle, run_bytes, window_runs)
        self._last: tuple[tuple[int, int], MixedEpoch] | None = None

    def epoch(self, seed: int, epoch: int) -> MixedEpoch:
        last = self._last
        if last is None or last[0] != (seed, epoch):
            order = self._mixture._mixture(seed, epoch)
            last = self._last = (
                (seed, epoch),
                MixedEpoch(self._mixture.sources, order, self._shape),
            )
        return last[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}


class MixedEpoch:
    """One epoch of a mixture."""

    def __init__(
        self, sources: list[Dataset], order: _core.PackMixture, shape: tuple[str, int, int]
    ) -> None:
        self._sources = sources
        self._order = order
        self._shape = shape
        # The order of a source in an epoch of its own, last used last. Any thread may fill it in;
        # no lock, which a forked child might find held.
        self._orders: dict[tuple[int, int], _core.PackOrder] = {}
        self._most_orders = _SPARE_ORDERS + len(sources)
        self.total = len(order)
        self._check: int | None = None

    @property
    def is_local(self) -> bool:
        return all(source._own().is_local for source in self._sources)

    @property
    def sample_bytes(self) -> int:
        return max(mean_bytes(source) for source in self._sources)

    @property
    def check(self) -> int:
        if self._check is None:
            values: list[int] = []
            for source, epoch, position in self._order.fill(0, min(_PROBES, self.total)):
                values += [source, self.order_of(source, epoch).at(position)]
            for dataset in self._sources:
                values += dataset._own().keys_digests()
            self._check = fingerprint(values)
        return self._check

    def order_of(self, source: int, epoch: int) -> _core.PackOrder:
        """The order of one source, in an epoch of its own."""
        order = self._orders.pop((source, epoch), None)
        if order is None:
            shuffle, run_bytes, window_runs = self._shape
            seed = self._order.source_seed(source)
            dataset = self._sources[source]
            order = make_order(dataset, shuffle, seed, epoch, run_bytes, window_runs)
            for unused in list(self._orders)[: 1 - self._most_orders]:
                self._orders.pop(unused, None)
        self._orders[source, epoch] = order
        return order

    def steps(self, positions: np.ndarray) -> list[tuple[int, int, int]]:
        """The source, its own epoch and the position in that, for each position."""
        count = len(positions)
        if count > 0 and int(positions[-1]) - int(positions[0]) == count - 1:
            return self._order.fill(int(positions[0]), count)
        return [self._order.at(int(position)) for position in positions]

    def reader(
        self, share: _Share, split: _core.PackSplit, start: int, jobs: int, reads_ahead: bool
    ) -> Reader:
        if self._shape[0] != "window":
            return _MixedReader(self, split, jobs)
        return _MixedWindowReader(self, share, split, jobs, reads_ahead)


class _MixedReader:
    """Reads a batch source by source."""

    def __init__(self, epoch: MixedEpoch, split: _core.PackSplit, jobs: int) -> None:
        self._epoch = epoch
        self._split = split
        self._jobs = jobs

    def read(self, batch: int) -> list[tuple[Any, Any]]:
        steps = self._epoch.steps(self._split.batch(batch))
        groups: dict[tuple[int, int], list[int]] = {}
        for place, (source, epoch, _) in enumerate(steps):
            groups.setdefault((source, epoch), []).append(place)
        samples: list[tuple[Any, Any]] = [(None, None)] * len(steps)
        for (source, epoch), places in groups.items():
            positions = np.array([steps[place][2] for place in places], np.uint64)
            for place, (number, found) in zip(places, self._read(source, epoch, positions)):
                samples[place] = ((source, number), found)
        self._note_read(batch, list(groups))
        return samples

    def close(self) -> None:
        pass

    def _read(self, source: int, epoch: int, positions: np.ndarray) -> list[tuple[int, Any]]:
        dataset = self._epoch._sources[source]
        numbers = numbers_at(self._epoch.order_of(source, epoch), positions).tolist()
        return list(zip(numbers, dataset.read_many(numbers, keep_errors=True, jobs=self._jobs)))

    def _note_read(self, batch: int, epochs: list[tuple[int, int]]) -> None:
        """Called for each batch that was read, with the sources' own epochs it is of."""


class _MixedWindowReader(_MixedReader):
    """The same by windows, which all share their threads. Batches may be read in any order, but
    about in that of their numbers."""

    def __init__(
        self,
        epoch: MixedEpoch,
        share: _Share,
        split: _core.PackSplit,
        jobs: int,
        reads_ahead: bool,
    ) -> None:
        super().__init__(epoch, split, jobs)
        self._threads = window_threads() if reads_ahead else None
        self._lock = threading.Lock()
        self._windows: dict[tuple[int, int], Windows] = {}
        # The first of our batches that was not read yet; what those behind it were of that were.
        self._lowest = share.worker
        self._stride = share.workers
        self._ahead: dict[int, list[tuple[int, int]]] = {}
        # The epoch that each source has come to before that batch: none before it is needed.
        self._begun: dict[int, int] = {}

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _read(self, source: int, epoch: int, positions: np.ndarray) -> list[tuple[int, Any]]:
        with self._lock:
            windows = self._windows.get((source, epoch))
            if windows is None:
                windows = self._windows[source, epoch] = Windows(
                    self._epoch._sources[source],
                    self._epoch.order_of(source, epoch),
                    _all_positions,
                    self._jobs,
                    self._threads,
                )
        return windows.read(positions)

    def _note_read(self, batch: int, epochs: list[tuple[int, int]]) -> None:
        with self._lock:
            self._ahead[batch] = epochs
            while self._lowest in self._ahead:
                for source, epoch in self._ahead.pop(self._lowest):
                    self._begun[source] = max(epoch, self._begun.get(source, 0))
                self._lowest += self._stride
            for source, epoch in list(self._windows):
                if epoch < self._begun.get(source, 0):
                    del self._windows[source, epoch]


def _all_positions(begin: int, end: int) -> np.ndarray:
    return np.arange(begin, end, dtype=np.uint64)
