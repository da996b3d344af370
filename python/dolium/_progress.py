"""progress=True: how far long work is, on a terminal."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

# Called with what is done, all of it (0: not known), and bytes; or True: a bar on a terminal.
ProgressFunction: TypeAlias = Callable[[int, int, int], object]
Progress: TypeAlias = ProgressFunction | bool

_BETWEEN_LINES = 0.1  # seconds


class ProgressBar:
    """A line on standard error that says how far the work is: one that is drawn again in place.
    Where standard error is no terminal, nothing."""

    def __init__(self, label: str, stream: Any = None) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._is_on = self._stream is not None and self._stream.isatty()
        self._begin = time.monotonic()
        self._last = 0.0
        self._drawn = 0

    def __call__(self, done: int, total: int, size: int) -> None:
        now = time.monotonic()
        if not self._is_on or (now - self._last < _BETWEEN_LINES and done < total):
            return
        self._last = now
        self._draw(self.line(done, total, size, now - self._begin))

    def line(self, done: int, total: int, size: int, seconds: float) -> str:
        """What is drawn, one column shorter than the terminal is wide."""
        width = shutil.get_terminal_size().columns - 1
        rate = size / seconds / 1e6 if seconds > 0 else 0.0
        if total <= 0:
            return f"{self._label}: {done:,}, {size / 1e6:,.1f} MB, {rate:,.0f} MB/s"[:width]
        part = min(1.0, done / total)
        end = f" {part:4.0%} {done:,}/{total:,}, {rate:,.0f} MB/s{self._left(part, seconds)}"
        room = width - len(self._label) - len(end) - 4
        if room < 5:
            return f"{self._label}:{end}"[:width]
        full = round(room * part)
        return f"{self._label}: [{'#' * full}{'.' * (room - full)}]{end}"

    def close(self) -> None:
        """Takes the line away."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    @staticmethod
    def _left(part: float, seconds: float) -> str:
        if part <= 0 or part >= 1 or seconds < 1:
            return ""
        left = round(seconds / part - seconds)
        return f", {left // 60}:{left % 60:02} left"

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(text)


@contextlib.contextmanager
def shown(progress: Progress | None, label: str) -> Iterator[ProgressFunction | None]:
    """The function to call, for an argument `progress`. A bar is taken away at the end, also if
    that is an exception, as of Ctrl-C."""
    if progress is not True:
        yield progress or None
        return
    bar = ProgressBar(label)
    try:
        yield bar
    finally:
        bar.close()
