"""The cache of remote shards: whole entries, shared by processes, and nothing else is deleted."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import shardpack
from conftest import flip_byte
from pack_makers import number_of, numbers_in, write_set

from range_server import RangeServer


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    write_set(folder, 400, shard_records=100)
    with RangeServer(folder) as server:
        server.files = folder
        yield server


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


def open_cached(server, folder, **options):
    return shardpack.open(
        server.url + "/train-{000000..000003}.shardpack",
        cache=folder,
        tail_bytes=6_000,
        **options,
    )


def entries(folder):
    return sorted(path.name for path in folder.glob("*.shardpack"))


def test_shards_are_downloaded_when_first_read(served, folder):
    dataset = open_cached(served, folder)
    assert entries(folder) == [] and len(dataset) == 400
    served.take_log()
    assert number_of(dataset[150]) == 150
    assert len(entries(folder)) == 1 and entries(folder)[0].startswith("train-000001-")
    assert {request.path for request in served.take_log()} == {"/train-000001.shardpack"}
    assert numbers_in([dataset[100:200]]) == list(range(100, 200))
    assert served.take_log() == []
    assert sorted(numbers_in(dataset.loader(16, shuffle=True))) == list(range(400))
    assert len(entries(folder)) == 4
    served.take_log()
    # Another process finds them there: only the tails are asked for.
    again = shardpack.cache(
        served.url + "/train-{000000..000003}.shardpack", folder, tail_bytes=6_000
    )
    assert numbers_in([again]) == list(range(400))
    assert len(served.take_log()) == 4
    assert again.find("sample00321") == 321
    record = again.read_record_at_offset(again.get_index()[222])
    assert number_of(record) == 222
    with pytest.raises(IndexError, match="sample 400 of a set of 400"):
        again[400]


def test_large_shards_arrive_in_parts(served, folder):
    path = served.files / "large.shardpack"
    contents = [random.Random(number).randbytes(3_000_000) for number in range(8)]
    with shardpack.Writer(path) as writer:
        for number, content in enumerate(contents):
            writer.write(f"{number}", {"x": content})
    dataset = shardpack.open(served.url + "/large.shardpack", cache=folder, cache_verify=True)
    assert [record["x"].data for record in dataset] == contents
    assert (folder / entries(folder)[0]).read_bytes() == path.read_bytes()
    assert len(served.take_log()) == 4  # the tail, and pieces of 8 MiB


def test_a_shard_that_was_replaced_is_another_entry(served, folder):
    assert number_of(open_cached(served, folder)[5]) == 5
    (served.files / "new").mkdir()
    write_set(served.files / "new", 50)
    os.replace(
        served.files / "new" / "train-000000.shardpack", served.files / "train-000000.shardpack"
    )
    dataset = open_cached(served, folder)
    assert len(dataset) == 330 and number_of(dataset[5]) == 5
    assert [name[:13] for name in entries(folder)] == ["train-000000-"] * 2


@pytest.mark.parametrize("where", ["footer", "entry", "cut"])
def test_damaged_entries_are_fetched_anew(served, folder, where):
    numbers_in([open_cached(served, folder)[:100]])
    path = folder / entries(folder)[0]
    # Another file in its place: the old one may still be mapped.
    data = bytearray(path.read_bytes())
    if where == "cut":
        del data[-100:]
    else:
        data[-20 if where == "footer" else data.index(b"text of 17")] ^= 0xFF
    (folder / "other").write_bytes(data)
    os.replace(folder / "other", path)
    assert numbers_in([open_cached(served, folder)[:100]]) == list(range(100))
    assert shardpack.verify(folder / entries(folder)[0])


def test_damage_of_the_source_is_raised(served, folder):
    path = served.files / "train-000000.shardpack"
    flip_byte(path, path.read_bytes().index(b"text of 17") + 3)
    dataset = open_cached(served, folder)
    assert number_of(dataset[16]) == 16
    for _ in range(2):
        with pytest.raises(shardpack.EntryCorruptError, match='"sample00017"'):
            dataset[[16, 17]]
    with pytest.raises(shardpack.CorruptError):
        open_cached(served, folder / "verified", cache_verify=True)[0]


def test_sound_files_of_a_damaged_sample_are_read(served, folder):
    path = served.files / "train-000000.shardpack"
    flip_byte(path, path.read_bytes().index(b"text of 17") + 3)
    dataset = open_cached(served, folder)
    for record in (
        dataset[17],
        dataset.get("sample00017"),
        dataset.read_record_at_offset(dataset.get_index()[17]),
    ):
        assert number_of(record) == 17
        with pytest.raises(shardpack.EntryCorruptError, match='"sample00017"'):
            record["text.txt"].data
    assert numbers_in([dataset.records()]) == list(range(400))
    # What is not asked for is not looked at.
    numbers = dataset.tuples("number.json")
    assert numbers[17] == (b"17",) and numbers[[-1, 17, 100]] == ([b"399", b"17", b"100"],)
    assert [int(number) for (number,) in numbers] == list(range(400))
    texts = dataset.tuples("text.txt")
    passing = iter(texts)
    assert [next(passing)[0][:10] for _ in range(17)][16] == b"text of 16"
    for read in (lambda: next(passing), lambda: texts[17], lambda: texts[[300, 17]]):
        with pytest.raises(shardpack.EntryCorruptError, match='"sample00017": entry "text.txt"'):
            read()


def test_damaged_copies_are_fetched_anew_for_tuples(served, folder):
    numbers_in([open_cached(served, folder)[:100]])
    path = folder / entries(folder)[0]
    data = bytearray(path.read_bytes())
    data[data.index(b"text of 17")] ^= 0xFF
    (folder / "other").write_bytes(data)
    os.replace(folder / "other", path)
    assert open_cached(served, folder).tuples("text.txt")[17] == (b"text of 17" * 5,)
    assert shardpack.verify(folder / entries(folder)[0])


def test_the_limit_deletes_only_what_was_downloaded(served, folder):
    size = (served.files / "train-000000.shardpack").stat().st_size
    folder.mkdir()
    # What a user might keep there, even with names like those of entries.
    (folder / "precious.shardpack").write_bytes(bytes(size))
    lookalike = folder / f"train-000009-{'0' * 32}.shardpack"
    lookalike.write_bytes(bytes(size))
    os.utime(lookalike, (0, 0))
    dataset = open_cached(served, folder, cache_limit=2 * size + size // 2)
    for number in (0, 100, 0, 200, 300):
        assert number_of(dataset[number]) == number
        time.sleep(0.01)
    names = entries(folder)
    assert "precious.shardpack" in names and lookalike.name in names
    downloaded = [name for name in names if name not in ("precious.shardpack", lookalike.name)]
    assert [name[:12] for name in downloaded] == ["train-000002", "train-000003"]
    # A limit below one shard keeps that one.
    small = open_cached(served, folder / "small", cache_limit=10)
    assert numbers_in([small]) == list(range(400))
    assert len(entries(folder / "small")) == 1


def test_local_shards_are_not_copied(served, folder):
    dataset = shardpack.open(served.files, cache=folder, cache_limit=1)
    assert numbers_in([dataset]) == list(range(400))
    assert entries(folder) == [] and len(list(served.files.glob("*.shardpack"))) == 4


def test_joining_downloads_the_whole(served, folder, tmp_path):
    other = tmp_path / "labels"
    other.mkdir()
    with shardpack.Writer(other / "l-000000.shardpack") as writer:
        for number in range(400):
            writer.write(f"sample{number:05}", {"label.txt": f"{number}"})
    joined = shardpack.join([open_cached(served, folder), shardpack.open(other)])
    assert len(entries(folder)) == 4
    served.take_log()
    assert joined[333]["label.txt"].data == joined[333]["number.json"].data == b"333"
    assert served.take_log() == []
    with pytest.raises(ValueError, match="limit"):
        shardpack.overlay(open_cached(served, folder / "small", cache_limit=10))


READ = """
import sys, shardpack
reference, folder, limit, passes = sys.argv[1:]
dataset = shardpack.open(reference, cache=folder, cache_limit=int(limit), tail_bytes=6000)
print("ready", flush=True)
for _ in range(int(passes)):
    numbers = [int(r["number.json"].data) for b in dataset.loader(16, shuffle=True) for r in b]
    assert sorted(numbers) == list(range(400))
"""


def start_readers(count, served, folder, limit, passes):
    reference = served.url + "/train-{000000..000003}.shardpack"
    command = [sys.executable, "-c", READ, reference, folder, str(limit), str(passes)]
    return [
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "no_proxy": "*"})
        for _ in range(count)
    ]


@pytest.mark.parametrize("limit", [10**9, 30_000])
def test_processes_share_it(served, folder, limit):
    readers = start_readers(3, served, folder, limit, 2)
    assert [reader.wait(timeout=120) for reader in readers] == [0, 0, 0]
    if limit == 10**9:
        assert len(entries(folder)) == 4
    assert list(folder.glob(".*.part")) == []


def test_a_killed_download_leaves_nothing_that_is_used(served, folder):
    size = (served.files / "train-000000.shardpack").stat().st_size
    for attempt in range(5):
        served.take_log()
        (reader,) = start_readers(1, served, folder, 3 * size, 100)
        reader.stdout.readline()
        # Each pass downloads, because not all fit: some of that has begun, with others to come.
        while len(served.log) < 10 + attempt * 3:
            assert reader.poll() is None
            time.sleep(0.001)
        reader.kill()
        assert reader.wait() == -signal.SIGKILL
        reader.stdout.close()
    for name in entries(folder):
        assert shardpack.verify(folder / name)
    assert numbers_in([open_cached(served, folder)]) == list(range(400))
