"""Processes that are killed while they work."""

import os
import random
import signal
import subprocess
import time


def moments(duration, seed, count):
    """Points in time at which to kill work that once took `duration`: to a little after its end,
    and every other one rather early, because a first run is often the slowest."""
    source = random.Random(seed)
    for number in range(count):
        if number % 2:
            yield duration * 1.1 * source.random()
        else:
            yield duration * 100 ** -source.random()


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
        """Kills it once the files of `folder` hold `size` bytes. Whether that was before it
        ended."""
        while self.process.poll() is None and folder_size(folder) < size:
            time.sleep(0.0005)
        return self.kill_after(0)


def folder_size(folder):
    """The bytes in the files of a folder in which a process renames and removes."""
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:
            continue
    return total
