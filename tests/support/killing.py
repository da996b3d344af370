"""Processes that are killed while they work."""

import os
import random
import select
import shutil
import signal
import subprocess
import time


def can_trace():
    """Whether strace can follow a program here, and change what its calls do."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


class Moments:
    """Points in time at which to kill work that once took `duration`: to a little after its end,
    and every other one rather early, because a first run is often the slowest.

    At least `count` of them, and then as many as it takes until `wanted` have met what they were
    meant for, which the loop reports with hit(). The work may take longer or shorter by then,
    whatever else the machine does: so later ones come from a much wider span.
    """

    def __init__(self, duration, seed, count, wanted=None):
        self._duration = duration
        self._source = random.Random(seed)
        self._count = count
        self._wanted = count // 4 if wanted is None else wanted
        self.hits = 0

    def hit(self, was_hit):
        """Reports what the last kill met; returns the same."""
        self.hits += bool(was_hit)
        return was_hit

    def __iter__(self):
        number = 0
        while number < self._count or self.hits < self._wanted:
            assert number < 20 * self._count, f"{self.hits} of {number} kills met the work"
            span = self._duration
            if number >= self._count:
                span *= 16 ** self._source.uniform(-1, 1)
            if number % 2:
                yield span * 1.1 * self._source.random()
            else:
                yield span * 100 ** -self._source.random()
            number += 1


class Worker:
    """A process that does the work to be killed."""

    def __init__(self, command, waits_for_ready=False):
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE if waits_for_ready else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if waits_for_ready:
            assert self.process.stdout.readline() == b"ready\n", self.process.stderr.read()
        self.began = time.monotonic()

    def finish(self):
        """Lets it end, and returns how long that took."""
        errors = self.process.communicate()[1]
        assert self.process.returncode == 0, errors.decode(errors="replace")
        return time.monotonic() - self.began

    def kill_after(self, seconds):
        """Whether it was killed before it ended."""
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
        errors = self.process.communicate()[1]
        assert self.process.returncode in (0, -signal.SIGKILL), errors.decode(errors="replace")
        return self.process.returncode != 0

    def kill_at_size(self, folder, size):
        """Kills it once the files of `folder` hold `size` bytes, or once it says that it has come
        to its end and waits there."""
        while folder_size(folder) < size:
            if select.select([self.process.stdout], [], [], 0.0005)[0]:
                assert self.process.stdout.readline() == b"waiting\n"
                break
        assert self.kill_after(0)


def folder_size(folder):
    """The bytes in the files of a folder in which a process renames and removes."""
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:
            continue
    return total


def all_files(folder):
    """The bytes of all files in a folder and below it, by their path in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
