"""`cache`: what is read from remote locations, kept on disk."""

import os
import pathlib
import pickle

import numpy as np
import pytest

import dolium
import pack_makers  # noqa: F401  (where the tests' servers are)
from range_server import RangeServer


@pytest.fixture
def served(tmp_path):
    with RangeServer(tmp_path) as server:
        yield server


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def no_default():
    yield
    dolium.set_cache(None)


@pytest.mark.parametrize(
    "form",
    [
        lambda folder: folder,
        lambda folder: str(folder),
        lambda folder: f"{folder},20MB",
        lambda folder: dolium.Cache(folder, limit=20_000_000),
    ],
)
def test_a_set_is_read_without_the_server(served, cache, location, values, form):
    url = f"{served.url}/{location.name}"
    some = sorted(values)[:20]
    chunks = dolium.open(url, cache=form(cache))
    assert chunks.get_many(some) == [values[key] for key in some]
    served.take_log()
    offline = dolium.open(url, cache=dolium.Cache(cache, offline=True))
    assert offline.get_many(some) == [values[key] for key in some]
    again = pickle.loads(pickle.dumps(offline))
    assert again[some[3]] == values[some[3]]
    assert served.take_log() == []
    assert os.stat(cache / "dolium-cache-1").st_mode & 0o777 == 0o700


def test_a_volume_is_read_without_the_server(served, cache, filled):
    volume, array = filled
    url = f"{served.url}/{pathlib.Path(volume.location).name}"
    assert np.array_equal(dolium.Volume.open(url, cache=cache)[...], array)
    served.take_log()
    offline = dolium.Volume.open(url, cache=f"{cache},offline")
    assert np.array_equal(offline[...], array)
    assert np.array_equal(pickle.loads(pickle.dumps(offline))[...], array)
    assert served.take_log() == []


def test_the_default_holds_for_what_has_none_of_its_own(
    served, cache, location, values, no_default
):
    url = f"{served.url}/{location.name}"
    key = sorted(values)[1]
    dolium.set_cache(f"{cache},5MB")
    assert dolium.open(url)[key] == values[key]
    dolium.set_cache(dolium.Cache(cache, offline=True))
    served.take_log()
    assert dolium.open(url)[key] == values[key]
    assert served.take_log() == []
    own = dolium.open(url, cache=cache.with_name("own"))
    assert own[key] == values[key] and served.take_log() != []
    dolium.set_cache(None)
    assert dolium.open(url)[key] == values[key] and served.take_log() != []


def test_local_sets_need_no_cache(cache, location, values):
    key = sorted(values)[1]
    assert dolium.open(location, cache=cache)[key] == values[key]
    assert not cache.exists()


def test_relative_folders_are_those_of_the_opening(served, tmp_path, location, values, monkeypatch):
    monkeypatch.chdir(tmp_path)
    key = sorted(values)[1]
    chunks = dolium.open(f"{served.url}/{location.name}", cache="here")
    assert chunks[key] == values[key]
    (tmp_path / "elsewhere").mkdir()
    pickled = pickle.dumps(chunks)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(pickled)[key] == values[key]
    assert (tmp_path / "here").exists() and not (tmp_path / "elsewhere" / "here").exists()


@pytest.mark.parametrize(
    "bad, error, message",
    [
        ("", ValueError, "names no folder"),
        (",5GB", ValueError, "names no folder"),
        ("here,10", ValueError, "the limit is 10 bytes"),
        (dolium.Cache("here", limit=10), ValueError, "the limit of the cache is 10 bytes"),
        (("here", "much", False), TypeError, "a limit in bytes"),
        (("here",), TypeError, "a limit in bytes"),
        (7, TypeError, "not int"),
    ],
)
def test_what_is_no_cache_is_refused(location, bad, error, message):
    with pytest.raises(error, match=message):
        dolium.open(location, cache=bad)
    with pytest.raises(error, match=message):
        dolium.set_cache(bad)
