"""From positions of an order to samples: one by one, or by windows of neighbours."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dolium import _core

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._loader import _Share

# Positions whose samples distinguish one order from another.
_PROBES = 16
# Windows in memory: the one that is read, the one ahead, and what is left of the one before.
_WINDOWS = 3
_WINDOW_THREADS = 8


class Reader(Protocol):
    """Reads batches. Any thread may call it."""

    def read(self, batch: int) -> list[tuple[Any, Any]]:
        """For each sample of a batch its number, and the Record or an exception."""

    def close(self) -> None:
        """Ends its threads. Nothing is read after it."""


class Epoch(Protocol):
    """One epoch of a set or mixture."""

    total: int
    is_local: bool  # reading it is no waiting
    sample_bytes: int  # as a rule

    @property
    def check(self) -> int:
        """A number that distinguishes this order of these samples from others."""

    def reader(
        self, share: _Share, split: _core.PackSplit, start: int, jobs: int, reads_ahead: bool
    ) -> Reader: ...


class Order(Protocol):
    """The epochs of a set or mixture."""

    def epoch(self, seed: int, epoch: int) -> Epoch: ...


def shuffle_name(shuffle: bool | str) -> str:
    if shuffle is True:
        return "global"
    if shuffle is False:
        return "none"
    if shuffle not in ("none", "global", "window"):
        raise ValueError(f'shuffle is True, False, "none", "global" or "window", not {shuffle!r}')
    return shuffle


def make_order(
    dataset: Dataset, shuffle: str, seed: int, epoch: int, run_bytes: int, window_runs: int
) -> _core.PackOrder:
    extents = dataset._own().extents() if shuffle == "window" else []
    return _core.PackOrder(len(dataset), shuffle, seed, epoch, extents, run_bytes, window_runs)


def numbers_at(order: _core.PackOrder, positions: np.ndarray) -> np.ndarray:
    """The samples at these positions, which follow each other as a rule."""
    count = len(positions)
    if count > 0 and int(positions[-1]) - int(positions[0]) == count - 1:
        return order.fill(int(positions[0]), count)
    return np.array([order.at(int(position)) for position in positions], np.uint64)


def fingerprint(values: list[int]) -> int:
    return zlib.crc32(np.array(values, "<u8").tobytes())


def mean_bytes(dataset: Dataset) -> int:
    extents = dataset._own().extents()
    return sum(size for _, size in extents) // max(1, sum(records for records, _ in extents))


class SetOrder:
    """The orders of one set."""

    def __init__(self, dataset: Dataset, shuffle: str, run_bytes: int, window_runs: int) -> None:
        self._dataset = dataset
        self._shape = (shuffle, run_bytes, window_runs)
        self._last: tuple[tuple[int, int], SetEpoch] | None = None

    def epoch(self, seed: int, epoch: int) -> SetEpoch:
        last = self._last
        if last is None or last[0] != (seed, epoch):
            shuffle, run_bytes, window_runs = self._shape
            order = make_order(self._dataset, shuffle, seed, epoch, run_bytes, window_runs)
            last = self._last = ((seed, epoch), SetEpoch(self._dataset, order, shuffle))
        return last[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}


class SetEpoch:
    """One epoch of one set."""

    def __init__(self, dataset: Dataset, order: _core.PackOrder, shuffle: str) -> None:
        self._dataset = dataset
        self._order = order
        self._shuffle = shuffle
        self._check: int | None = None
        self.total = len(order)

    @property
    def is_local(self) -> bool:
        return self._dataset._own().is_local

    @property
    def sample_bytes(self) -> int:
        return mean_bytes(self._dataset)

    @property
    def check(self) -> int:
        if self._check is None:
            numbers = self._order.fill(0, min(_PROBES, self.total)).tolist()
            self._check = fingerprint(numbers + self._dataset._own().keys_digests())
        return self._check

    def reader(
        self, share: _Share, split: _core.PackSplit, start: int, jobs: int, reads_ahead: bool
    ) -> Reader:
        if self._shuffle != "window":
            return _SetReader(self._dataset, self._order, split, jobs)

        def ours(begin: int, end: int) -> np.ndarray:
            found = [np.empty(0, np.uint64)]
            for first, positions in share.batches_between(split, start, begin, end):
                inside = (positions >= max(begin, first)) & (positions < end)
                found.append(positions[inside])
            return np.concatenate(found)

        threads = window_threads() if reads_ahead else None
        windows = Windows(self._dataset, self._order, ours, jobs, threads)
        return _WindowReader(windows, split, threads)


class _SetReader:
    def __init__(
        self, dataset: Dataset, order: _core.PackOrder, split: _core.PackSplit, jobs: int
    ) -> None:
        self._dataset = dataset
        self._order = order
        self._split = split
        self._jobs = jobs

    def read(self, batch: int) -> list[tuple[Any, Any]]:
        numbers = numbers_at(self._order, self._split.batch(batch)).tolist()
        found = self._dataset.read_many(numbers, keep_errors=True, jobs=self._jobs)
        return list(zip(numbers, found))

    def close(self) -> None:
        pass


class _WindowReader:
    def __init__(
        self, windows: Windows, split: _core.PackSplit, threads: ThreadPoolExecutor | None
    ) -> None:
        self._windows = windows
        self._split = split
        self._threads = threads

    def read(self, batch: int) -> list[tuple[Any, Any]]:
        return self._windows.read(self._split.batch(batch))

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


def window_threads() -> ThreadPoolExecutor:
    """Threads that read windows ahead."""
    return ThreadPoolExecutor(_WINDOW_THREADS, "shardpack-window")


class Windows:
    """The samples of a windowed order, read run by run: each window when it is first asked for,
    the next one meanwhile, if there are threads for that. Any thread may use it; positions are
    asked for once, about in order.

    `ours(begin, end)` gives those positions of a window that will be asked for. The threads are
    the caller's, who ends them.
    """

    def __init__(
        self,
        dataset: Dataset,
        order: _core.PackOrder,
        ours: Callable[[int, int], np.ndarray],
        jobs: int,
        threads: ThreadPoolExecutor | None,
    ) -> None:
        self._dataset = dataset
        self._order = order
        self._ours = ours
        self._jobs = jobs
        self._threads = threads
        self._lock = threading.Lock()
        self._windows: dict[int, _Window] = {}  # by their first position, oldest first

    def read(self, positions: np.ndarray) -> list[tuple[int, Any]]:
        """For each position the number of its sample, and the Record or an exception."""
        numbers = numbers_at(self._order, positions).tolist()
        found = {}
        for window in self._windows_of(positions):
            found.update(window.take(numbers))
        missing = [number for number in numbers if number not in found]
        if missing:
            records = self._dataset.read_many(missing, keep_errors=True, jobs=self._jobs)
            found.update(zip(missing, records))
        return [(number, found[number]) for number in numbers]

    def _windows_of(self, positions: np.ndarray) -> list[_Window]:
        windows = []
        with self._lock:
            # Positions that start over are padding: single samples, read by themselves.
            at, last = int(positions[0]), int(positions.max(initial=0))
            while at <= last:
                window = self._find(at)
                windows.append(window)
                at = window.end
            if windows and self._threads is not None and at < len(self._order):
                self._find(at)
            for begin in list(self._windows)[:-_WINDOWS]:
                del self._windows[begin]
        return windows

    def _find(self, position: int) -> _Window:
        for window in self._windows.values():
            if window.begin <= position < window.end:
                return window
        found = self._order.window_at(position)
        assert found is not None  # The order has windows.
        begin, end, runs = found
        window = _Window(begin, end, self._start(begin, end, runs))
        self._windows[begin] = window
        return window

    def _start(self, begin: int, end: int, runs: list[tuple[int, int]]) -> list[_Run]:
        places = self._ours(begin, end) - np.uint64(begin)
        numbers = np.sort(self._order.fill(begin, end - begin)[places.astype(np.intp)])
        started = []
        for first, count in runs:
            low, high = np.searchsorted(numbers, np.array([first, first + count], np.uint64))
            if low < high:
                started.append(_Run(self._dataset, numbers[low:high].tolist(), self._threads))
        return started


class _Run:
    """Neighbouring samples, read at once."""

    def __init__(
        self, dataset: Dataset, numbers: list[int], threads: ThreadPoolExecutor | None
    ) -> None:
        self._lock = threading.Lock()
        self._records: dict[int, Any] | None = None
        self._numbers = numbers
        self._dataset = dataset
        self._future: Future[list[Any]] | None = None
        if threads is not None:
            self._future = threads.submit(dataset.read_many, numbers, keep_errors=True, jobs=1)

    def take(self, numbers: list[int]) -> list[tuple[int, Any]]:
        """Those of the samples that are here; each is given once."""
        with self._lock:
            if self._records is None:
                if self._future is not None:
                    records = self._future.result()
                else:
                    records = self._dataset.read_many(self._numbers, keep_errors=True)
                self._future = None
                self._records = dict(zip(self._numbers, records))
            here = self._records
            return [(number, here.pop(number)) for number in numbers if number in here]


class _Window:
    def __init__(self, begin: int, end: int, runs: list[_Run]) -> None:
        self.begin = begin
        self.end = end
        self._runs = runs

    def take(self, numbers: list[int]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for run in self._runs:
            found.update(run.take(numbers))
        return found
