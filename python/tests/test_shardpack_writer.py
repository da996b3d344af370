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
