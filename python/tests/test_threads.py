"""The GIL, threads, other processes and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from conftest import SPEC
import gil_watch

import dolium
import shardpack

# Rewrites chunk after chunk: the value of chunk i is always some number, repeated i + 1 times.
REWRITER = """
import sys, dolium
chunks = dolium.open(sys.argv[1])
print("ready", flush=True)
for round in range(1, 1 << 30):
    chunks.update({i: bytes([round % 251]) * (i + 1) for i in range(0, 64, 1 + round % 5)})
    print("round", flush=True)
"""


def is_whole(key: int, value: bytes) -> bool:
    return len(value) == key + 1 and value == value[:1] * len(value)


def test_readers_never_see_wrong_bytes_while_a_process_rewrites(tmp_path):
    location = tmp_path / "set"
    values = {i: b"\0" * (i + 1) for i in range(64)}
    dolium.write_sharded(location, dolium.ShardingSpec(0, 1, 1), values)
    chunks = dolium.open(location)
    counts = [0] * 8
    faults = []
    may_end = threading.Event()

    def read(thread):
        keys = range(64)
        while not (may_end.is_set() and counts[thread] >= 3) and not faults:
            try:
                if thread == 0:
                    report = chunks.verify(jobs=1)
                    faults.extend(report.findings)
                    got = {}
                elif thread == 1:
                    assert chunks.stats(jobs=1).stored_size.count == len(keys)
                    got = dict(chunks.items())
                    assert sorted(got) == list(keys)
                elif thread % 2 == 0:
                    got = {key: chunks[key] for key in keys}
                else:
                    got = dict(zip(keys, chunks.get_many(keys)))
                faults.extend((k, v) for k, v in got.items() if v is None or not is_whole(k, v))
                counts[thread] += 1
            except BaseException as error:
                faults.append(error)

    command = [sys.executable, "-c", REWRITER, str(location)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as rewriter:
        try:
            assert rewriter.stdout.readline() == b"ready\n"
            threads = [threading.Thread(target=read, args=(n,)) for n in range(8)]
            for thread in threads:
                thread.start()
            # Readers go on until it has rewritten often and each has read a few times.
            for _ in range(150):
                assert rewriter.stdout.readline() == b"round\n"
            may_end.set()
            for thread in threads:
                # What is not read would hold it up.
                while thread.is_alive():
                    rewriter.stdout.readline()
                    thread.join(0)
            assert rewriter.poll() is None
        finally:
            may_end.set()
            rewriter.kill()
    assert faults == []
    assert min(counts) >= 3
    assert any(chunks[key][0] != 0 for key in range(64))  # It did rewrite.
    assert chunks.verify().ok


def make_large_set(location):
    values = ((i, i.to_bytes(8, "little") * 512) for i in range(20_000))
    dolium.write_sharded(location, dolium.ShardingSpec(0, 3, 2, data_encoding="gzip"), values)
    return dolium.open(location)


def test_the_gil_is_free_during_long_work(tmp_path):
    chunks = make_large_set(tmp_path / "set")
    calls = {
        "verify": lambda: chunks.verify(jobs=1),
        "get_many": lambda: chunks.get_many(range(20_000)),
        "convert": lambda: dolium.convert(
            tmp_path / "set", tmp_path / "target", data_encoding="raw", jobs=1, force=True
        ),
    }
    for name, call in calls.items():
        assert gil_watch.is_free_during(call, patience=0.25), name


def test_the_gil_is_free_while_a_stream_decodes(tmp_path):
    shard = tmp_path / "a.shardpack"
    with shardpack.Writer(shard, compression="gzip", level=1) as writer:
        writer.write("key", {"text.txt": os.urandom(8 << 20).hex()})
    assert gil_watch.is_free_during(lambda: list(shardpack.stream(shard)))


INTERRUPTED = """
import sys, dolium
chunks = dolium.open(sys.argv[1])
def progress(*_):
    print("under way", flush=True)
try:
    while True:
        chunks.verify(jobs=1, progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_long_work(tmp_path):
    make_large_set(tmp_path / "set")
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "set")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"under way\n"
            process.send_signal(signal.SIGINT)
            output = process.stdout.read()  # Ends with the process.
            assert process.wait(120) == 0
        finally:
            process.kill()
    assert output.splitlines()[-1] == b"interrupted"


def test_ctrl_c_ends_writing_and_leaves_the_set_unfinished(tmp_path):
    script = """
import itertools, sys, dolium
spec = dolium.ShardingSpec(0, 3, 2)
def chunks():
    for number in itertools.count():
        if number == 100_000:
            print("under way", flush=True)
        yield number, b"x" * 100
try:
    dolium.write_sharded(sys.argv[1], spec, chunks())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "set")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"under way\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.read() == b"interrupted\n"
            assert process.wait(120) == 0
        finally:
            process.kill()
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(tmp_path / "set", format="neuroglancer")


def test_threads_share_one_iterator(tmp_path):
    values = {i: i.to_bytes(8, "little") for i in range(20_000)}
    dolium.write_sharded(tmp_path / "set", SPEC, values)
    items = dolium.open(tmp_path / "set").items()
    parts = [[] for _ in range(4)]
    threads = [threading.Thread(target=part.extend, args=(items,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(len, parts)) == len(values)
    assert dict(item for part in parts for item in part) == values
