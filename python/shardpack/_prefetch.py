"""Work that is done ahead, in order, on threads, in bounded memory."""

from __future__ import annotations

import collections
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar


class _Sized(Protocol):
    nbytes: int


_Result = TypeVar("_Result", bound=_Sized)


class Prefetcher(Generic[_Result]):
    """Calls make(0), make(1) ... make(count - 1) on threads and hands out what they give, in order.

    At most `depth` results are held or made, of `limit` bytes together, as far as that can be known
    from the largest so far and `expected`; one is always allowed. For one thread to use.
    """

    def __init__(
        self,
        make: Callable[[int], _Result],
        count: int,
        *,
        depth: int,
        limit: int,
        threads: int,
        expected: int,
    ) -> None:
        self._make = make
        self._count = count
        self._depth = depth
        self._limit = limit
        self._largest = expected
        self._next = 0
        self._ahead: collections.deque[Future[_Result]] = collections.deque()
        # Its threads are idle or end by themselves when this object is gone, also at exit.
        self._threads = ThreadPoolExecutor(threads, "shardpack-loader")

    def get(self) -> _Result:
        """The next result, or what making it raised."""
        self._start_more()
        result = self._ahead.popleft().result()
        self._largest = max(self._largest, result.nbytes)
        self._start_more()
        return result

    def _start_more(self) -> None:
        while (
            self._next < self._count
            and len(self._ahead) < self._depth
            and (not self._ahead or (len(self._ahead) + 1) * self._largest <= self._limit)
        ):
            self._ahead.append(self._threads.submit(self._make, self._next))
            self._next += 1

    def close(self) -> None:
        """Ends the threads; what they are at is dropped."""
        self._ahead.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)
