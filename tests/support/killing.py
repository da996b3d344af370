"""Processes that are killed while they work."""

import signal
import subprocess
import time


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
