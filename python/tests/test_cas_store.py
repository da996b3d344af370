"""dolium.cas.Store: put, get, open, and the rest."""

import io
import os
import random
import socket
import threading

import pytest

import dolium
from dolium import cas


@pytest.fixture
def store(tmp_path):
    return cas.Store.init(tmp_path / "store")


def write(path, size, seed):
    data = random.Random(seed).randbytes(size)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return data


def test_put_and_get_a_file(store, tmp_path):
    data = write(tmp_path / "file", 3_000_000, 1)
    version = store.put(tmp_path / "file")
    assert (version.name, version.sequence, version.kind) == ("file", 1, "file")
    assert version.hash == cas.file_hash(tmp_path / "file")
    assert version.new_bytes == len(data)
    assert store.get("file", tmp_path / "out") == (1, len(data))
    assert (tmp_path / "out").read_bytes() == data
    with pytest.raises(FileExistsError):
        store.get("file", tmp_path / "out")
    store.get(version.hash, tmp_path / "out", force=True)
    assert store.put(tmp_path / "file", name="other").new_bytes == 0
    assert store.ls() == ["file", "other"]


def test_put_and_get_a_folder(store, tmp_path):
    source = tmp_path / "source"
    contents = {name: write(source / name, 10_000, i) for i, name in enumerate("abc")}
    (source / "link").symlink_to("a")
    (source / "empty").mkdir()
    told = []
    version = store.put(source, name="set", progress=lambda *numbers: told.append(numbers))
    assert version.kind == "folder" and version.files == 3
    store.get("set@1", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*"abc", "link", "empty"}
    for name, data in contents.items():
        assert (tmp_path / "out" / name).read_bytes() == data
        assert os.stat(tmp_path / "out" / name).st_mtime_ns == os.stat(source / name).st_mtime_ns
        assert store.read("set", name) == data
    entries = {entry.path: entry for entry in store.ls("set")}
    assert entries["link"].target == "a"
    assert entries["a"].size == 10_000
    with pytest.raises(KeyError):
        store.open("set", "nothing")
    with pytest.raises(ValueError, match="is a folder"):
        store.open("set")


def test_open_is_a_file(store):
    data = random.Random(5).randbytes(2_000_000)
    store.put_bytes(data, "bytes")
    with store.open("bytes") as file:
        assert isinstance(file, io.RawIOBase)
        assert file.size == len(data)
        assert file.pread(10, 1_000_000) == data[1_000_000:1_000_010]
        assert file.seek(-5, os.SEEK_END) == len(data) - 5
        assert file.read() == data[-5:]
        assert file.read(10) == b""
        file.seek(123_456)
        assert file.read(200_000) == data[123_456:323_456]
        assert file.tell() == 323_456
        assert io.BufferedReader(file).read(3) == data[323_456:323_459]
    with pytest.raises(ValueError):
        file.pread(1, 0)


def test_many_threads_read_one_file(store):
    data = random.Random(6).randbytes(4_000_000)
    store.put_bytes(data, "bytes")
    wrong = []
    with store.open("bytes") as file:

        def read(seed):
            source = random.Random(seed)
            for _ in range(50):
                offset = source.randrange(len(data))
                if file.pread(50_000, offset) != data[offset : offset + 50_000]:
                    wrong.append(offset)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_versions(store):
    for number in range(3):
        store.put_bytes(b"version %d" % number, "n")
    assert [version.sequence for version in store.log("n")] == [1, 2, 3]
    assert store.read("n@2") == b"version 1"
    assert store.read("n") == b"version 2"
    assert store.rm("n@2") == 1
    assert [version.reference for version in store.log()] == ["n@1", "n@3"]
    with pytest.raises(KeyError):
        store.read("n@2")


def test_gc_and_stats(store):
    data = random.Random(7).randbytes(500_000)
    store.put_bytes(data, "gone")
    store.put_bytes(data[::-1], "kept")
    assert store.stats()["raw_bytes"] == 1_000_000
    assert store.stats("kept")["unique_bytes"] == 500_000
    store.rm("gone")
    assert store.gc()["removed_xorbs"] == 0
    assert store.gc(grace=0, dry_run=True)["removed_xorbs"] == 1
    assert store.gc(grace=0)["removed_xorbs"] == 1
    assert store.stats()["raw_bytes"] == store.stat()["raw_bytes"] == 500_000
    assert store.read("kept") == data[::-1]


def test_gc_leaves_open_files_alone(store):
    data = random.Random(8).randbytes(500_000)
    store.put_bytes(data, "n")
    with store.open("n") as file:
        store.rm("n")
        assert store.gc(grace=0)["removed_xorbs"] == 0
        assert file.readall() == data
    assert store.gc(grace=0)["removed_xorbs"] == 1


def test_damage_is_found_and_never_read(store, tmp_path):
    store.put_bytes(random.Random(9).randbytes(500_000), "n")
    assert store.verify(deep=True).findings == []
    (xorb,) = (tmp_path / "store" / "xorbs").rglob("*.xorb")
    data = bytearray(xorb.read_bytes())
    data[1000] ^= 1
    xorb.write_bytes(data)
    store = cas.Store(tmp_path / "store")
    assert store.verify(quick=True).ok
    for depth in ({}, {"deep": True}):
        report = store.verify(**depth)
        assert [damage.kind for damage in report.findings] == ["chunk", "damaged_file"]
        assert (report.errors, report.unreadable) == (2, 0)
    with pytest.raises(ValueError, match="quick contradicts deep"):
        store.verify(quick=True, deep=True)
    with pytest.raises(dolium.CorruptError, match="term 0: xorb [0-9a-f]{64}: chunk 0"):
        store.read("n")


def test_a_put_stores_again_what_verify_quarantined(store, tmp_path):
    data = random.Random(9).randbytes(500_000)
    store.put_bytes(data, "n")
    (xorb,) = (tmp_path / "store" / "xorbs").rglob("*.xorb")
    xorb.write_bytes(bytes(1000) + xorb.read_bytes()[1000:])
    store = cas.Store(tmp_path / "store")
    assert store.verify(quarantine=True).errors > 0
    assert not xorb.exists()
    assert [moved.name for moved in (tmp_path / "store" / "quarantine").glob("*.xorb")] == [xorb.name]
    store.put_bytes(data, "n")
    assert store.verify().ok
    assert store.read("n") == data


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="dolium.cas.Store.init makes one"):
        cas.Store(tmp_path / "nothing")
    cas.Store.init(tmp_path / "store")
    with pytest.raises(FileExistsError):
        cas.Store.init(tmp_path / "store")
    store = cas.Store(tmp_path / "store")
    with pytest.raises(ValueError):
        store.put_bytes(b"", "name@3")
    with pytest.raises(FileNotFoundError):
        store.put(tmp_path / "nothing")
    assert store.reindex() == 0


def test_a_flipped_bit_never_gives_an_empty_file(store, tmp_path):
    store.put_bytes(b"hello world" * 100, "x")
    (shard,) = (tmp_path / "store" / "shards").iterdir()
    data = bytearray(shard.read_bytes())
    assert data[84] == 1
    data[84] ^= 1
    shard.write_bytes(data)
    store = cas.Store(tmp_path / "store")
    with pytest.raises(dolium.CorruptError, match="no terms"):
        store.open("x")
    with pytest.raises(dolium.CorruptError):
        store.read("x")


@pytest.mark.parametrize("grace", [float("nan"), -1, float("-inf")])
def test_gc_refuses_what_is_no_time(store, grace):
    with pytest.raises(ValueError, match="grace"):
        store.gc(grace=grace)


def test_gc_with_endless_grace_removes_nothing(store):
    store.put_bytes(b"text", "x")
    store.rm("x")
    assert store.gc(grace=float("inf"))["removed_xorbs"] == 0
    assert store.gc(grace=0)["removed_xorbs"] == 1


def test_names_that_are_not_utf8(store, tmp_path):
    source = os.fsencode(tmp_path / "source")
    os.mkdir(source)
    with open(source + b"/\xff", "wb") as file:
        file.write(b"text")
    name = os.fsdecode(b"n\xfe")
    version = store.put(tmp_path / "source", name=name)
    assert (version.name, store.ls()) == (name, [name])
    assert [entry.path for entry in store.ls(name)] == [".", "\udcff"]
    assert store.read(name, "\udcff") == b"text"
    assert store.read(version.reference, "\udcff") == b"text"
    assert [each.sequence for each in store.log(name)] == [1]
    assert store.stats(name)["files"] == 1
    store.get(name, tmp_path / "out")
    assert os.listdir(os.fsencode(tmp_path / "out")) == [b"\xff"]
    assert store.put_bytes(b"more", name).sequence == 2
    assert store.rm(name) == 2


def test_put_tells_what_it_left_out(store, tmp_path, monkeypatch):
    write(tmp_path / "source" / "file", 10, 1)
    monkeypatch.chdir(tmp_path / "source")  # Paths of sockets are short.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    version = store.put(tmp_path / "source", name="n")
    ((path, reason),) = version.skipped
    assert path == str(tmp_path / "source" / "socket")
    assert "socket" in reason
    assert [entry.path for entry in store.ls("n")] == [".", "file"]
    assert store.log("n")[0].skipped == ()
    assert store.put(tmp_path / "source", name="n", reread=True).hash == version.hash


def test_stats_of_two_versions(store):
    data = random.Random(10).randbytes(1_000_000)
    store.put_bytes(data, "n")
    store.put_bytes(data + b"more", "n")
    sums = store.stats("n@1", "n@2")
    assert store.compare("n@1", "n@2") == sums
    assert sums["bytes"] == 1_000_004
    assert 4 < sums["new_bytes"] <= 131_072
    assert "gain" not in sums
    assert store.stats("n", "n")["new_chunks"] == 0
    with pytest.raises(TypeError, match="a second version needs a first"):
        store.stats(second="n")


@pytest.fixture
def shards(store, tmp_path):
    """Two shards, with a file each, and the chunks of the first."""
    made = []
    for seed in (11, 12):
        store.put_bytes(random.Random(seed).randbytes(600_000), f"n{seed}")
        paths = {path.read_bytes() for path in (tmp_path / "store" / "shards").iterdir()}
        made.append((paths - set(made)).pop())
    data = random.Random(11).randbytes(600_000)
    return made, [chunk.hash for chunk in cas.chunks(data)]


def test_shards_are_sets(shards):
    (first, second), chunks = shards
    (both,) = cas.unite_shards([first, second])
    assert cas.subtract_shards(both, [second]) == cas.unite_shards([first])
    assert cas.find_run(both, chunks) == cas.find_run(first, chunks)
    assert cas.find_run(second, chunks) is None
    with pytest.raises((dolium.CorruptError, NotImplementedError), match="shard"):
        cas.unite_shards([first[:-1]])


def test_keyed_shards_are_found_in_until_they_expire(shards):
    (first, _), chunks = shards
    run = cas.find_run(first, chunks[1:])
    assert (run.first, run.end) == (1, len(chunks))
    keyed = cas.key_shard(first, "ab" * 32, created=10, expiry=1000)
    assert bytes.fromhex(chunks[1])[:4] not in keyed
    assert cas.find_run(keyed, chunks[1:], now=1000) == run
    assert cas.find_run(keyed, chunks[1:], now=1001) is None
    assert cas.find_run(keyed, chunks[1:]) is None
    with pytest.raises(ValueError, match="keyed already"):
        cas.key_shard(keyed, "ab" * 32)
