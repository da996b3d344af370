"""A file system that is soon full."""

import contextlib
import subprocess

import pytest


@contextlib.contextmanager
def mounted(folder, size):
    """Mounts one of `size` ("16m") on a new folder. Skips the test where that is refused."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
