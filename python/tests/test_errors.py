"""What exceptions carry, and what their messages say."""

import errno
import os
import re
import subprocess
import sys

import pytest

import dolium
import dolium.cas
import shardpack
from dolium import _core

OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*\b|`dolium |dolium (convert|cas|volume|pack|reindex) ")


def test_no_hint_names_an_option_of_the_command_line():
    texts = _core.hint_texts()
    assert len(texts) > 10 and "; force=True replaces it" in texts
    for text in texts:
        assert not OPTION.search(text), text


def test_refusals_name_no_option_of_the_command_line(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "1").write_bytes(b"one")
    dolium.convert(tmp_path / "files", tmp_path / "set", to="neuroglancer")
    calls = [
        lambda: dolium.convert(tmp_path / "files", tmp_path / "set", to="neuroglancer"),
        lambda: dolium.open(tmp_path / "missing"),
        lambda: dolium.open(tmp_path / "files", format="neuroglancer"),
        lambda: dolium.cas.Store(tmp_path / "files"),
        lambda: dolium.Volume.open(tmp_path / "set"),
        lambda: shardpack.open(tmp_path / "missing.shardpack"),
    ]
    for call in calls:
        with pytest.raises(Exception) as caught:
            call()
        assert not OPTION.search(str(caught.value)), caught.value


def test_os_errors_carry_their_number(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        dolium.open(tmp_path / "missing")
    assert caught.value.errno == errno.ENOENT
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "1").write_bytes(b"one")
    dolium.convert(tmp_path / "files", tmp_path / "set", to="neuroglancer")
    with pytest.raises(FileExistsError) as caught:
        dolium.convert(tmp_path / "files", tmp_path / "set", to="neuroglancer")
    assert caught.value.errno == errno.EEXIST
    with pytest.raises(OSError) as caught:
        dolium.write_sharded("/proc/set", dolium.ShardingSpec(0, 0, 0), [(1, b"")])
    assert caught.value.errno, caught.value


WRITE = """
import dolium, sys
try:
    dolium.write_sharded(sys.argv[1], dolium.ShardingSpec(0, 0, 0), [(1, bytes(100_000))])
except OSError as error:
    print(type(error).__name__, error.errno)
"""


@pytest.mark.parametrize(
    "name, expected",
    [("EACCES", "PermissionError"), ("EPERM", "PermissionError"), ("ENOSPC", "OSError")],
)
def test_an_os_error_is_of_the_class_of_its_number(tmp_path, name, expected):
    # The renames that have files appear fail so: a test as root is allowed everything.
    calls = "rename,renameat,renameat2,link,linkat"
    strace = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={calls}"]
    strace += ["-e", f"inject={calls}:error={name}"]
    command = [*strace, sys.executable, "-c", WRITE, tmp_path / "set"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected, str(getattr(errno, name))], done.stderr


def test_a_conflict_is_a_stale_handle(tmp_path):
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.txt").write_text("a")
    plan = shardpack.plan_create(tmp_path / "samples", tmp_path / "a.shardpack")
    (tmp_path / "samples" / "a.txt").write_text("another")
    with pytest.raises(dolium.ConflictError) as caught:
        plan.run()
    assert isinstance(caught.value, OSError) and caught.value.errno == errno.ESTALE


@pytest.mark.parametrize("function", [dolium.open, dolium.verify, shardpack.open])
def test_a_server_that_is_not_there_has_a_number(function):
    with pytest.raises(OSError) as caught:
        function("http://127.0.0.1:9/set.shardpack")
    assert caught.value.errno, caught.value
