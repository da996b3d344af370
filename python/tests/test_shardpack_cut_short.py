"""Shards that are cut short while they are open: an exception, never the end of the process."""

import os
import threading

import numpy
import pytest

import dolium
import shardpack

SAMPLES = 200


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.shardpack"
    with shardpack.Writer(path) as writer:
        for number in range(SAMPLES):
            data = bytes([number]) * 10_000
            writer.write(f"k{number:03}", {"a.bin": data, "b.txt": "small"}, metadata={"n": number})
    return path


CHECKS = pytest.mark.parametrize("check", ["none", "headers", "full"])


@CHECKS
def test_reads_raise(path, check):
    dataset = shardpack.open(path, check=check)
    tuples = dataset.tuples("a.bin", "__key__")
    held = dataset[50]
    entry = held["a.bin"]
    os.truncate(path, 5_000)
    for read in (
        lambda: dataset[60],
        lambda: dataset[[3, 4]],
        lambda: dataset.get("k007"),
        lambda: list(dataset.records()),
        lambda: list(dataset.keys()),
        lambda: tuples[60],
        lambda: tuples[[60, 61]],
        lambda: list(dataset.loader(10)),
        lambda: held.key,
        lambda: held.names(),
        lambda: held.metadata,
        lambda: held.as_dict(),
        lambda: entry.data,
        lambda: entry.read(10, 20),
        lambda: entry.name,
        lambda: entry.view(check=True),
    ):
        with pytest.raises(dolium.ConflictError, match="has become shorter"):
            read()
    with pytest.raises(shardpack.CorruptError):
        shardpack.open(path)


def test_a_view_shows_zeros_then(path):
    """There is nobody to raise; what is read through it later is not checked."""
    entry = shardpack.open(path)[50]["a.bin"]
    view = numpy.frombuffer(entry.view(check=True), "uint8")
    assert view.min() == 50
    os.truncate(path, 0)
    assert view.max() == 0
    with pytest.raises(dolium.ConflictError):
        entry.view(check=True)


@CHECKS
def test_threads_that_read_get_an_exception_or_the_data(path, check):
    dataset = shardpack.open(path, check=check)
    began = threading.Barrier(4)
    ends = []

    def read():
        count = 0
        try:
            while True:
                for number, (data,) in enumerate(dataset.tuples("a.bin")):
                    assert data == bytes([number]) * 10_000
                    count += 1
                    if count == 10:
                        began.wait()
        except dolium.ConflictError as error:
            ends.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    began.wait()
    os.truncate(path, 0)
    for thread in threads:
        thread.join()
    assert len(ends) == 3


def test_it_can_be_opened_again_once_it_is_whole(path, tmp_path):
    good = path.read_bytes()
    dataset = shardpack.open(path)
    os.truncate(path, 0)
    with pytest.raises(dolium.ConflictError):
        dataset[60]
    path.write_bytes(good)
    with pytest.raises(dolium.ConflictError):
        dataset[60]
    assert shardpack.open(path)[60].key == "k060"
