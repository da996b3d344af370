"""Loader: batches in an order that is shuffled, split over ranks and resumable."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from dolium import _core

from ._decoding import Decode, Decoding, make_decoding, note_record
from ._jobs import jobs_of
from ._prefetch import Prefetcher
from ._reading import Epoch, Order, Reader, shuffle_name

if TYPE_CHECKING:
    from dolium._core import PackRecord as Record

Shuffle = Union[bool, Literal["none", "global", "window"]]
Remainder = Literal["drop", "pad", "keep"]
# Called with an exception and the number of the sample; what it returns takes the sample's place,
# None leaves that out.
ErrorHandler = Callable[[Exception, Any], Any]
OnError = Union[Literal["raise", "skip"], ErrorHandler]
Collate = Callable[[list[Any]], Any]

STATE_VERSION = 1
# What "skip" does not skip: the sample may be good the next time, or once a package is installed.
_PASSING = (OSError, MemoryError, ImportError)


class Loader:
    """Batches of samples: what `dataset.loader()` and `mixture.loader()` give.

        loader = dataset.loader(64, shuffle=True, seed=1, rank=rank, world=world)
        for batch in loader:            # each pass over it is an epoch
            train(batch)
            save(loader.state_dict())   # exact, at any step

    The order is a function of seed and epoch alone. Each global batch is the next
    `batch_size * world` samples of it; rank r takes the r-th slice. So a state is a position in
    that order, the same for all ranks, and a run may go on from it with other numbers of ranks and
    workers and another batch size: no sample comes twice, none is lost.

    `shuffle` is True or "global" (any sample anywhere), "window" (for sets that are read over the
    network: runs of neighbours of about `run_bytes` are shuffled, then the samples within each
    `window_runs` runs; a run is read once, and up to three windows are in memory), or False.

    `remainder` says what becomes of the samples that do not fill a last global batch: "drop";
    "pad": a shorter batch, made equally long for all ranks with samples from the start of the
    order; "keep": a shorter batch, each sample once, so that a rank may have one batch less. The
    default is "keep" for one rank, "pad" for several. `drop_last=True` means "drop".

    A batch is a list of Records; `decode` makes something else of each: a function of the Record;
    True or names of entries for a dict of entries decoded by content type, JPEG images of a batch
    together on `jobs` threads; or a dict of names and functions of bytes. `collate` makes something
    else of the list.

    Up to `prefetch` batches, of `prefetch_bytes` together, are read ahead on `jobs` threads (0:
    as many as suit the set; older name: `threads`), where functions that are given here run as well. `prefetch=0`
    reads in the caller's thread.

    `on_error` is "raise"; "skip", which leaves samples that are damaged or cannot be decoded out of
    their batch, counts them in `skipped` and changes nothing else; or a function of the exception
    and the sample's number, whose result takes the sample's place, unless it is None. A batch of
    which nothing is left is an empty list, not collated.

    One thread at a time may iterate. A pass that is dropped stops its threads.
    """

    def __init__(
        self,
        order: Order,
        batch_size: int = 1,
        *,
        seed: int = 0,
        epoch: int = 0,
        rank: int = 0,
        world: int = 1,
        drop_last: bool | None = None,
        remainder: Remainder | None = None,
        prefetch: int = 4,
        prefetch_bytes: int = 256 << 20,
        jobs: int = 0,
        threads: int | None = None,
        on_error: OnError = "raise",
        decode: Decode = None,
        collate: Collate | None = None,
    ) -> None:
        if isinstance(on_error, str) and on_error not in ("raise", "skip"):
            raise ValueError(f'on_error is "raise", "skip" or a function, not "{on_error}"')
        jobs = jobs_of(jobs, threads)
        if prefetch < 0 or jobs < 0 or prefetch_bytes < 0:
            raise ValueError("prefetch, prefetch_bytes and jobs are not below 0")
        if remainder is None:
            if drop_last:
                remainder = "drop"
            else:
                remainder = "keep" if world == 1 else "pad"
        elif drop_last is not None and drop_last != (remainder == "drop"):
            raise ValueError(f'drop_last={drop_last} contradicts remainder="{remainder}"')
        self.batch_size = batch_size
        # Samples that were left out so far.
        self.skipped = 0
        self._order = order
        self._seed = seed
        self._share = _Share(batch_size, rank, world, 0, 1, remainder)
        self._prefetch = prefetch
        self._prefetch_bytes = prefetch_bytes
        self._jobs = jobs
        self._handling = _Handling(on_error, decode, collate)
        self._epoch = epoch
        self._position = 0
        self._has_begun = False  # a pass has delivered some of the epoch, or ended
        self._wants_rest = False  # the next pass is the rest of the epoch, be that nothing
        self._pass_number = 0
        self._share.split(self._epoch_of(epoch).total, 0)  # Raises now, not later.

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def epoch(self) -> int:
        """The epoch of the pass that runs; before it, of the one that will begin next."""
        return self._epoch

    def __len__(self) -> int:
        """How many batches a whole epoch has, for this rank."""
        return self._share.split(self._epoch_of(self._epoch).total, 0).worker_batches

    def set_epoch(self, epoch: int) -> None:
        """Has the next pass begin this epoch; or go on in it, where a state was loaded."""
        if epoch != self._epoch or self._has_begun:
            self._start_at(epoch, 0)

    def state_dict(self) -> dict[str, int]:
        """Where the run is: seed, epoch and position, and what load_state_dict checks."""
        current = self._epoch_of(self._epoch)
        return {
            "version": STATE_VERSION,
            "seed": self._seed,
            "epoch": self._epoch,
            "position": self._position,
            "total": current.total,
            "check": current.check,
        }

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Has the next pass go on from where a state was taken. ValueError, if the order is not
        the same: of a set with other keys or in other shards, or shuffled in another way. However
        a set is opened, it is the same one."""
        version = state.get("version")
        if version != STATE_VERSION:
            raise ValueError(f"the state is of version {version}, expected {STATE_VERSION}")
        seed, epoch, position = state["seed"], state["epoch"], state["position"]
        found = self._order.epoch(seed, epoch)
        if found.total != state["total"]:
            raise ValueError(f"the state is of {state['total']} samples, here are {found.total}")
        if found.check != state["check"]:
            raise ValueError("the state is of another order: other samples, or shuffled otherwise")
        if not 0 <= position <= found.total:
            raise ValueError(f"position {position} of {found.total} samples")
        self._seed = seed
        self._start_at(epoch, position)

    def _start_at(self, epoch: int, position: int) -> None:
        self._epoch = epoch
        self._position = position
        self._has_begun = False
        self._wants_rest = False
        self._pass_number += 1  # A pass that still runs counts no more.

    def _epoch_of(self, epoch: int) -> Epoch:
        return self._order.epoch(self._seed, epoch)

    def __iter__(self) -> Iterator[Any]:
        """A pass: the rest of an epoch whose state was loaded, else a whole one. The first is the
        epoch that was set, each further one the next."""
        return _Pass(self, self._begin_pass())

    def _begin_pass(self) -> Progress:
        is_done = self._position > 0 and not self._wants_rest and self._is_at_the_end()
        if self._has_begun or is_done:
            self._start_at(self._epoch + 1, 0)
        self._pass_number += 1
        return Progress(self)

    def _is_at_the_end(self) -> bool:
        """Whether no rank has anything left of the epoch."""
        total = self._epoch_of(self._epoch).total
        return self._share.split(total, self._position).position_after(0) == total

    def _for_worker(self, worker: int, workers: int) -> Loader:
        """The loader of one worker among several that share the batches of this rank. Its position
        is where all of as many workers that have had as many batches would go on."""
        loader = copy.copy(self)
        loader._share = self._share.of_worker(worker, workers)
        return loader

    def __repr__(self) -> str:
        return (
            f"<shardpack.Loader of {len(self)} batches of {self.batch_size}, "
            f"epoch {self._epoch}, position {self._position}>"
        )


class Progress:
    """How far a pass over a loader is."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._number = loader._pass_number
        self.epoch = loader._epoch_of(loader._epoch)
        self.start = loader._position
        self.split = loader._share.split(self.epoch.total, self.start)

    def note(self, batches: int, skipped: int = 0) -> None:
        """Notes that all ranks have had so many batches, unless another pass has begun
        meanwhile."""
        loader = self._loader
        if loader._pass_number == self._number:
            loader.skipped += skipped
            loader._has_begun = True
            loader._position = self.split.position_after(batches)

    def end(self) -> None:
        """Notes that this rank has had all of the epoch, be that nothing."""
        loader = self._loader
        if loader._pass_number == self._number:
            loader._has_begun = True
            loader._position = self.epoch.total


class _Pass:
    """One pass over a loader. Its threads know nothing of it, so that dropping it ends them."""

    def __init__(self, loader: Loader, progress: Progress) -> None:
        self._progress = progress
        self._process = os.getpid()
        self._prefetcher: Prefetcher[_Batch] | None = None
        self._given = 0
        self._share = share = loader._share
        self._count = progress.split.worker_batches
        epoch = progress.epoch
        reads_ahead = loader._prefetch > 0
        threads = loader._jobs or (2 if epoch.is_local else 8)
        jobs = max(1, (os.cpu_count() or 1) // threads) if reads_ahead else loader._jobs
        reader = epoch.reader(share, progress.split, progress.start, jobs, reads_ahead)
        self._reader = reader
        handling = loader._handling

        def make(index: int) -> _Batch:
            return handling.batch(reader, share.worker + index * share.workers, jobs)

        self._make: Callable[[int], _Batch] | None = make
        if reads_ahead and self._count > 0:
            self._prefetcher = Prefetcher(
                make,
                self._count,
                depth=loader._prefetch,
                limit=loader._prefetch_bytes,
                threads=min(threads, loader._prefetch),
                expected=epoch.sample_bytes * share.batch_size,
            )

    def __iter__(self) -> _Pass:
        return self

    def __next__(self) -> Any:
        if self._process != os.getpid():
            raise RuntimeError("a pass over a loader cannot go on in a forked process")
        if self._make is None:
            raise StopIteration
        if self._given == self._count:
            self._progress.end()
            self.close()
            raise StopIteration
        try:
            if self._prefetcher is not None:
                batch = self._prefetcher.get()
            else:
                batch = self._make(self._given)
        except BaseException:
            self.close()
            raise
        self._given += 1
        self._progress.note(self._given * self._share.workers, batch.skipped)
        return batch.samples

    def close(self) -> None:
        """Ends the pass and its threads."""
        self._make = None
        if self._prefetcher is not None:
            self._prefetcher.close()
        self._reader.close()

    def __del__(self) -> None:
        if hasattr(self, "_reader") and self._process == os.getpid():
            self.close()


class _Share:
    """Which batches of an epoch are ours."""

    def __init__(
        self, batch_size: int, rank: int, world: int, worker: int, workers: int, remainder: str
    ) -> None:
        self.batch_size = batch_size
        self.rank = rank
        self.world = world
        self.worker = worker
        self.workers = workers
        self.remainder = remainder

    def of_worker(self, worker: int, workers: int) -> _Share:
        return _Share(self.batch_size, self.rank, self.world, worker, workers, self.remainder)

    def split(self, total: int, start: int) -> _core.PackSplit:
        return _core.PackSplit(
            total,
            start,
            self.batch_size,
            self.rank,
            self.world,
            self.worker,
            self.workers,
            self.remainder,
        )

    def batches_between(
        self, split: _core.PackSplit, start: int, begin: int, end: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Our batches with positions from `begin` to `end`: the first position of the global
        batch, and the positions of ours."""
        size = self.batch_size * self.world
        first = max(0, (begin - start) // size)
        first += (self.worker - first) % self.workers
        last = min(split.batches, (end - start + size - 1) // size)
        for batch in range(first, last, self.workers):
            yield start + batch * size, split.batch(batch)


class _Batch:
    __slots__ = ("nbytes", "samples", "skipped")

    def __init__(self, samples: Any, nbytes: int, skipped: int) -> None:
        self.samples = samples
        self.nbytes = nbytes
        self.skipped = skipped


class _Handling:
    """What is done with samples that were read."""

    def __init__(self, on_error: OnError, decode: Decode, collate: Collate | None) -> None:
        self._on_error = on_error
        self._decode = make_decoding(decode)
        self._collate = collate

    def batch(self, reader: Reader, number: int, jobs: int) -> _Batch:
        pairs = reader.read(number)
        found = [record for _, record in pairs]
        nbytes = sum(one.nbytes for one in found if not isinstance(one, BaseException))
        values = found
        if isinstance(self._decode, Decoding):
            values = self._decode.values(found, jobs)
            nbytes += sum(map(_array_bytes, values))
        samples = []
        skipped = 0
        for (sample, record), value in zip(pairs, values):
            try:
                if isinstance(value, BaseException):
                    raise value
                if callable(self._decode):
                    value = self._called(record)
                samples.append(value)
            except Exception as error:
                replacement = self._replacement(error, sample)
                if replacement is None:
                    skipped += 1
                else:
                    samples.append(replacement)
        if samples and self._collate is not None:
            return _Batch(self._collate(samples), nbytes, skipped)
        return _Batch(samples, nbytes, skipped)

    def _called(self, record: Record) -> Any:
        try:
            return self._decode(record)  # type: ignore[misc,operator]
        except Exception as error:
            note_record(error, record)
            raise

    def _replacement(self, error: Exception, sample: Any) -> Any:
        if callable(self._on_error):
            return self._on_error(error, sample)
        if self._on_error == "skip" and not isinstance(error, _PASSING):
            return None
        raise error


def _array_bytes(value: Any) -> int:
    """What the arrays take that were decoded of a sample."""
    if not isinstance(value, dict):
        return 0
    return sum(one.nbytes for one in value.values() if isinstance(one, np.ndarray))


def make_loader(
    source: Any,
    batch_size: int,
    shuffle: Shuffle,
    run_bytes: int,
    window_runs: int,
    options: dict[str, Any],
) -> Loader:
    """The loader of a dataset or mixture, which has `_order_of(shuffle, ...)`."""
    order = source._order_of(shuffle_name(shuffle), run_bytes, window_runs)
    return Loader(order, batch_size, **options)
