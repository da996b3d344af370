"""Volumes used by many: threads, processes, and Ctrl-C."""

import signal
import subprocess
import sys
import threading
import time

import gil_watch
import numpy as np
import pytest

import dolium

# Writes the columns of its own, one by one: y of each is at y0 + 0, 2, 4, ...
WRITER = """
import sys, numpy as np, dolium
location, start = sys.argv[1], int(sys.argv[2])
volume = dolium.Volume.open(location)
print("ready", flush=True)
sys.stdin.readline()
for y in range(start, volume.shape[1], 2):
    volume[3:30, y, 1:20] = np.full((27, 19), 100 + y, "uint16")
"""


@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "files"])
def test_processes_that_write_into_the_same_chunks_lose_nothing(tmp_path, sharded):
    volume = dolium.Volume.create(
        tmp_path / "v", shape=(32, 24, 24), dtype="uint16", chunk_size=(16, 16, 16), sharded=sharded
    )
    volume[...] = 1
    command = [sys.executable, "-c", WRITER, str(tmp_path / "v")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = [subprocess.Popen([*command, str(start)], **pipes) for start in (0, 1)]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        for writer in writers:
            writer.stdin.write(b"\n")
            writer.stdin.flush()
        for writer in writers:
            assert writer.wait(120) == 0
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    expected = np.ones((32, 24, 24), "uint16")
    expected[3:30, :, 1:20] = np.arange(100, 124)[None, :, None]
    assert np.array_equal(volume, expected)
    assert list(tmp_path.rglob("*tmp*")) == []


def test_threads_share_a_volume(tmp_path):
    volume = dolium.Volume.create(
        tmp_path / "v", shape=(64, 64, 16), dtype="uint32", chunk_size=(16, 16, 16)
    )
    faults = []

    def work(number):
        try:
            for y in range(number, 64, 4):
                volume[5:60, y, 2:9] = y + 1
                assert (volume[5:60, y, 2:9] == y + 1).all()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert np.array_equal(volume[5:60, :, 2], np.tile(np.arange(1, 65), (55, 1)))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """384 MiB of voxels: written in more than one piece. Tests may write into it."""
    location = tmp_path_factory.mktemp("large") / "v"
    return dolium.Volume.create(
        location, shape=(512, 512, 192), dtype="uint64", shard_size=1 << 27
    )


def test_large_boxes_are_written_in_pieces(large):
    array = np.empty(large.shape, "uint64")
    array[...] = np.arange(512)[:, None, None]
    large[...] = np.arange(512, dtype="uint64")[:, None, None]
    assert np.array_equal(large, array)
    large[1:511, 3:500, 5:190] = 9
    array[1:511, 3:500, 5:190] = 9
    assert np.array_equal(large, array)


def test_the_gil_is_free_while_voxels_are_read_and_written(large):
    box = np.s_[:, :, :128]
    calls = {
        "read": lambda: large.read(box, jobs=1),
        "read_many": lambda: large.read_many([box], jobs=1),
        "write": lambda: large.write(box, 3, jobs=1),
    }
    for name, call in calls.items():
        assert gil_watch.is_free_during(call, patience=0.25), name


INTERRUPTED = """
import sys, threading, numpy as np, dolium
volume = dolium.Volume.open(sys.argv[1])
calls = {
    "read": lambda: volume.read(jobs=1),
    "read_many": lambda: volume.read_many([np.s_[:, :, :64]] * 100, jobs=1),
    "write": lambda: volume.write(..., 5, jobs=1),
}
call = calls[sys.argv[2]]
try:
    print("under way", flush=True)
    while True:
        call()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("call", ["read", "read_many", "write"])
def test_ctrl_c_ends_it(large, call):
    command = [sys.executable, "-c", INTERRUPTED, large.location, call]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"under way\n"
            time.sleep(0.3)  # Wherever it is then, in a call or not yet: it ends.
            process.send_signal(signal.SIGINT)
            assert process.stdout.read() == b"interrupted\n"
            assert process.wait(120) == 0
        finally:
            process.kill()


ENDLESS = """
import sys, dolium
# With this hash, a box is written in one piece.
volume = dolium.Volume.create(
    sys.argv[1],
    shape=(1 << 14, 1 << 14, 1 << 10),
    dtype="uint8",
    sharding=dolium.ShardingSpec(0, 4, 4, hash="murmurhash3_x86_128"),
)
try:
    print("under way", flush=True)
    volume[...] = 1
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_it_within_a_piece(tmp_path):
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "v")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"under way\n"
            time.sleep(1)  # Wherever it is then: it would not end by itself.
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
            assert process.stdout.read() == b"interrupted\n"
        finally:
            process.kill()
