"""What exceptions carry, and what their messages say."""

import errno
import re

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
