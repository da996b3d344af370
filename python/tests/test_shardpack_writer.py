"""Writers: what they refuse, and who may use them at once."""

import os
import threading
import time

import pytest

import shardpack


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "zstd"}, {"compression": "zstd", "dictionary": 4096}],
    ids=["plain", "zstd", "dictionary"],
)
def test_a_sample_that_is_refused_costs_no_other(tmp_path, options):
    path = tmp_path / "a.shardpack"
    writer = shardpack.Writer(path, **options)
    refused = []
    for number in range(3000):
        name = "../evil" if number in (10, 2990) else "a.txt"
        try:
            writer.write(f"k{number}", {name: f"text {number} " * 50})
        except ValueError as error:
            refused.append((number, str(error)))
    assert refused == [
        (number, f'"k{number}": entry "../evil": the name leads upwards') for number in (10, 2990)
    ]
    writer.close()
    assert len(shardpack.open(path)) == 2998
    assert shardpack.verify(path)


def test_a_writer_that_could_not_write_does_not_go_on(tmp_path):
    (tmp_path / "a-000001.shardpack").write_bytes(b"")
    writer = shardpack.Writer(tmp_path / "a-000000.shardpack", shard_records=10)
    for number in range(10):
        writer.write(f"k{number}", {"a": b""})
    for number in range(10, 15):
        with pytest.raises(FileExistsError):
            writer.write(f"k{number}", {"a": b""})
    with pytest.raises(FileExistsError):
        writer.close()
    assert len(shardpack.open(tmp_path / "a-000000.shardpack")) == 10


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_threads_take_turns(tmp_path, compression):
    path = tmp_path / "a.shardpack"
    errors = []

    def write(writer, thread):
        try:
            for number in range(200):
                data = bytes([number]) * (100 if number % 10 else 100_000)
                writer.write(f"k{thread}-{number}", {"a": data})
        except BaseException as error:
            errors.append(error)

    with shardpack.Writer(path, compression=compression, memory=1 << 20) as writer:
        threads = [threading.Thread(target=write, args=(writer, n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    dataset = shardpack.open(path)
    assert len(dataset) == 800
    for thread in range(4):
        keys = [key for key in dataset.keys() if key.startswith(f"k{thread}-")]
        assert keys == [f"k{thread}-{number}" for number in range(200)]
    assert shardpack.verify(path)


@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_writer_may_end_while_another_thread_writes(tmp_path, end):
    data = os.urandom(300_000)
    for round in range(10):
        path = tmp_path / f"{round}.shardpack"
        writer = shardpack.Writer(path, memory=1 << 20)
        begun, ended = threading.Event(), threading.Event()
        written, errors = [], []

        def work():
            late = 0  # writes begun after the end: the first of them must fail
            try:
                while late < 2:
                    late += ended.is_set()
                    number = len(written)
                    writer.write(f"k{number}", {"a": data})
                    written.append(number)
                    begun.set()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        time.sleep(round * 0.001)
        if end == "close":
            writer.close()
        else:
            writer._writer.abort()
        ended.set()
        thread.join()
        assert [(type(error), str(error)) for error in errors] == [
            (ValueError, "the writer is closed")
        ]
        assert path.exists() == (end == "close")
        if end == "close":
            assert len(shardpack.open(path)) == len(written)
        for leftover in tmp_path.iterdir():
            leftover.unlink()


def write_numbers(path, numbers, **options):
    """A set of three samples a shard, the second of every five a large one; the writer."""
    with shardpack.Writer(path, shard_records=3, reproducible=True, **options) as writer:
        for number in numbers[writer.samples_before :]:
            writer.write(f"k{number}", {"n": str(number) * (200 if number % 5 == 1 else 1)})
    return writer


def test_a_set_whose_writer_did_not_end_is_resumed(tmp_path):
    whole, cut = tmp_path / "whole-000000.shardpack", tmp_path / "cut-000000.shardpack"
    reports = write_numbers(whole, range(11)).shards
    writer = shardpack.Writer(cut, shard_records=3, reproducible=True)
    for number in range(8):
        writer.write(f"k{number}", {"n": str(number) * (200 if number % 5 == 1 else 1)})
    writer._writer.abort()

    writer = write_numbers(cut, range(11), resume=True)
    assert (writer.samples_before, writer.last_key) == (6, "k5")
    assert [(report.records, report.size) for report in writer.shards] == [
        (report.records, report.size) for report in reports
    ]
    assert [os.path.basename(report.path) for report in writer.shards] == [
        f"cut-{number:06}.shardpack" for number in range(4)
    ]
    for number in range(4):
        name = f"-{number:06}.shardpack"
        assert (tmp_path / f"cut{name}").read_bytes() == (tmp_path / f"whole{name}").read_bytes()

    # A complete set has nothing to add, and gets no empty shard.
    writer = write_numbers(cut, range(11), resume=True)
    assert (writer.samples_before, writer.last_key, len(writer.shards)) == (11, "k10", 4)
    assert len(list(tmp_path.glob("cut*"))) == 4
    # Parts of a sample that was cut are one sample.
    split = {"record_size_limit": 200, "oversize": "split"}
    write_numbers(tmp_path / "split-000000.shardpack", range(4), **split)
    writer = write_numbers(tmp_path / "split-000000.shardpack", range(4), resume=True, **split)
    assert (writer.samples_before, writer.last_key) == (4, "k3")


def test_what_cannot_be_resumed_is_refused(tmp_path):
    path = tmp_path / "a-000000.shardpack"
    with pytest.raises(ValueError, match="only a set of several is resumed"):
        shardpack.Writer(path, resume=True)
    with pytest.raises(ValueError, match="exclude each other"):
        shardpack.Writer(path, shard_records=3, resume=True, force=True)
    assert write_numbers(path, range(3), resume=True).samples_before == 0
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(shardpack.CorruptError):
        shardpack.Writer(path, shard_records=3, resume=True)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"compression": "zstd", "level": 99}, "level: 99 is not a number of 0 to 22"),
        ({"align": 24}, "align: 24 is not a power of two of 8 to 4096"),
        ({"chunk_size": 1000}, "chunk_size: 1000 is not a power of two of 64KiB to 1GiB"),
        ({"record_size_limit": 1, "oversize": "drop"}, '"drop" is none of: error, split, skip'),
    ],
)
def test_options_that_cannot_be_are_named(tmp_path, option, message):
    with pytest.raises(ValueError, match=message):
        shardpack.Writer(tmp_path / "t.shardpack", **option)
    assert not list(tmp_path.iterdir())
