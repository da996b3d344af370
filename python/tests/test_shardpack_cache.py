"""The cache of remote shards: shared by processes, within its limit, and never trusted blindly."""

import os
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest

import dolium
import shardpack
from conftest import flip_byte
from pack_makers import number_of, numbers_in, write_set

from range_server import RangeServer

NAMES = "/train-{000000..000003}.shardpack"


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
    return shardpack.open(server.url + NAMES, cache=folder, tail_bytes=6_000, **options)


def open_offline(server, folder):
    return open_cached(server, dolium.Cache(folder, offline=True))


def kept(folder):
    """The files in which the cache keeps bytes."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if path.read_bytes()[:8] == b"dolcach1"]


def test_what_was_read_is_there_without_the_server(served, folder):
    dataset = open_cached(served, folder)
    assert len(dataset) == 400
    assert numbers_in([dataset]) == list(range(400))
    served.take_log()
    # Another process, as it were, to whom the server is away.
    assert numbers_in([open_cached(served, f"{folder},20MB,offline")]) == list(range(400))
    again = open_offline(served, folder)
    assert numbers_in([again]) == list(range(400))
    assert sorted(numbers_in(again.loader(16, shuffle=True))) == list(range(400))
    assert again.find("sample00321") == 321
    assert number_of(again.read_record_at_offset(again.get_index()[222])) == 222
    assert again.tuples("number.json")[[5, 300]] == ([b"5", b"300"],)
    with pytest.raises(IndexError, match="sample 400 of a set of 400"):
        again[400]
    assert served.take_log() == []


def test_offline_what_was_not_read_is_an_error(served, folder):
    open_cached(served, folder)
    with pytest.raises(OSError, match="offline"):
        open_offline(served, folder / "other")


def test_a_pickled_dataset_keeps_its_cache(served, folder):
    numbers_in([open_cached(served, folder)])
    served.take_log()
    again = pickle.loads(pickle.dumps(open_offline(served, folder)))
    assert numbers_in([again]) == list(range(400))
    assert pickle.loads(pickle.dumps(again.tuples("number.json")))[17] == (b"17",)
    assert served.take_log() == []


def test_the_function_cache_is_open_with_a_cache(served, folder):
    dataset = shardpack.cache(served.url + NAMES, folder, 10 << 20, cache_verify=True)
    assert numbers_in([dataset]) == list(range(400))
    assert kept(folder)


def test_a_shard_that_was_replaced_is_read_anew(served, folder):
    assert number_of(open_cached(served, folder)[5]) == 5
    (served.files / "new").mkdir()
    write_set(served.files / "new", 50)
    os.replace(
        served.files / "new" / "train-000000.shardpack", served.files / "train-000000.shardpack"
    )
    dataset = open_cached(served, folder)
    assert len(dataset) == 330 and number_of(dataset[5]) == 5


def test_damaged_copies_are_fetched_anew(served, folder):
    numbers_in([open_cached(served, folder)])
    for path in kept(folder):
        flip_byte(path, path.stat().st_size - 1)
    assert numbers_in([open_cached(served, folder)]) == list(range(400))
    assert open_cached(served, folder).tuples("text.txt")[17] == (b"text of 17" * 5,)
    # And the new copies are sound.
    assert numbers_in([open_offline(served, folder)]) == list(range(400))


def test_damage_of_the_source_is_raised(served, folder):
    path = served.files / "train-000000.shardpack"
    flip_byte(path, path.read_bytes().index(b"text of 17") + 3)
    dataset = open_cached(served, folder)
    assert number_of(dataset[16]) == 16
    for _ in range(2):
        with pytest.raises(shardpack.EntryCorruptError, match='"sample00017"'):
            dataset[[16, 17]]


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


def test_the_limit_holds_and_nothing_else_is_deleted(served, folder):
    contents = [random.Random(number).randbytes(1_000_000) for number in range(8)]
    with shardpack.Writer(served.files / "large.shardpack") as writer:
        for number, content in enumerate(contents):
            writer.write(f"{number}", {"x": content})
    folder.mkdir()
    (folder / "precious.shardpack").write_bytes(bytes(3_000_000))
    dataset = shardpack.open(
        served.url + "/large.shardpack", cache=folder, cache_limit=3_000_000
    )
    assert [record["x"].data for record in dataset] == contents
    assert 0 < sum(path.stat().st_size for path in kept(folder)) <= 3_000_000
    assert (folder / "precious.shardpack").read_bytes() == bytes(3_000_000)
    # A limit that is too small for anything is the least there is.
    small = open_cached(served, folder / "small", cache_limit=10)
    assert numbers_in([small]) == list(range(400))
    assert sum(path.stat().st_size for path in kept(folder / "small")) <= 1 << 20


def test_local_shards_are_not_copied(served, folder):
    dataset = shardpack.open(served.files, cache=folder, cache_limit=1)
    assert numbers_in([dataset]) == list(range(400))
    assert not folder.exists()


def test_sets_with_a_cache_are_joined_and_overlaid(served, folder, tmp_path):
    other = tmp_path / "labels"
    other.mkdir()
    with shardpack.Writer(other / "l-000000.shardpack") as writer:
        for number in range(400):
            writer.write(f"sample{number:05}", {"label.txt": f"{number}"})
    labels = shardpack.open(other)
    joined = shardpack.join([open_cached(served, folder), labels])
    assert [int(record["label.txt"].data) for record in joined] == list(range(400))
    assert numbers_in([joined]) == list(range(400))
    laid = shardpack.overlay(open_cached(served, folder), labels)
    served.take_log()
    offline = shardpack.join([open_offline(served, folder), labels])
    assert offline[333]["label.txt"].data == offline[333]["number.json"].data == b"333"
    assert served.take_log() == []
    assert laid.get("sample00007")["label.txt"].data == b"7"


READ = """
import sys, shardpack
reference, folder, limit, passes = sys.argv[1:]
dataset = shardpack.open(reference, cache=folder, cache_limit=int(limit), tail_bytes=6000)
print("ready", flush=True)
for _ in range(int(passes)):
    numbers = [int(r["number.json"].data) for b in dataset.loader(16, shuffle=True) for r in b]
    assert sorted(numbers) == list(range(400))
"""


def start_readers(count, served, folder, passes):
    command = [sys.executable, "-c", READ, served.url + NAMES, folder, "2000000", str(passes)]
    return [
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "no_proxy": "*"})
        for _ in range(count)
    ]


def test_processes_share_it(served, folder):
    readers = start_readers(3, served, folder, 2)
    assert [reader.wait(timeout=120) for reader in readers] == [0, 0, 0]
    served.take_log()
    assert numbers_in([open_offline(served, folder)]) == list(range(400))
    assert served.take_log() == []


def test_a_killed_reader_leaves_a_cache_that_can_be_used(served, folder):
    for attempt in range(5):
        served.take_log()
        (reader,) = start_readers(1, served, folder / f"{attempt}", 1_000_000)
        while len(served.log) <= attempt:
            assert reader.poll() is None
            time.sleep(0.001)
        reader.kill()
        assert reader.wait() == -signal.SIGKILL
        reader.stdout.close()
        assert numbers_in([open_cached(served, folder / f"{attempt}")]) == list(range(400))
