"""Waiting for a server that does not answer, or sends a byte a second: Ctrl-C and SIGTERM end it at once,
on the command line and in Python, and a minimum rate ends it without them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import program
import shardpack
from range_server import RangeServer

# Far below any timeout of the transfers, and enough for a machine that is busy.
SOON = 20
# From the signal to the exit.
AT_ONCE = 3


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A folder with a sharded set, a volume and a ShardPack shard."""
    root = tmp_path_factory.mktemp("served")
    chunks = root / "chunks"
    chunks.mkdir()
    for number in range(50):
        (chunks / str(number)).write_bytes(os.urandom(3000))
    program.run("convert", "--to", "neuroglancer", chunks, root / "set")
    np.save(root / "array.npy", np.arange(64**3, dtype=np.uint8).reshape(64, 64, 64))
    program.run("volume", "ingest", "--scales", "1", root / "array.npy", root / "volume")
    (root / "samples").mkdir()
    (root / "samples" / "a.txt").write_text("a")
    program.run("pack", "create", "--input", root / "samples", "--output", root / "a.shardpack")
    with shardpack.Writer(root / "large.shardpack") as writer:
        for number in range(3):
            writer.write(f"{number}", {"x": os.urandom(300_000)})
    return root


def everything(path):
    return True


def shards(path):
    return ".shard" in path and not path.endswith(".shardpack")


VERBS = {
    "info": ("info", "{}/set"),
    "ls": ("ls", "{}/set"),
    "cat": ("cat", "{}/set", "7"),
    "stats": ("stats", "{}/set"),
    "verify": ("verify", "{}/set"),
    "convert": ("convert", "{}/set", "target"),
    "volume info": ("volume", "info", "{}/volume"),
    "volume verify": ("verify", "{}/volume"),
    "volume cutout": ("volume", "cutout", "{}/volume", "-o", "box.npy"),
    "volume transcode": ("volume", "transcode", "--encoding", "png", "{}/volume", "target"),
    "pack ls": ("pack", "ls", "{}/a.shardpack"),
    "pack verify": ("pack", "verify", "{}/a.shardpack"),
    "spec": ("info", "--spec", "{}/set/info", "."),
}


def interrupt(command, server, number, cwd):
    """Sends the signal once the server is waited for; gives exit status and both outputs."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd
    ) as process:
        try:
            server.wait_for_slow_request()
            began = time.monotonic()
            process.send_signal(number)
            out, error = process.communicate(timeout=SOON)
            took = time.monotonic() - began
        finally:
            process.kill()
    assert took < AT_ONCE, f"stopped after {took:.1f} s: {error.decode()}"
    return process.returncode, out.decode(), error.decode()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("trickles", [False, True], ids=["silent", "a byte a second"])
def test_the_first_signal_stops_a_verb(served, tmp_path, verb, trickles):
    number = signal.SIGTERM if trickles else signal.SIGINT
    with RangeServer(served, everything, trickles) as server:
        words = [word.format(server.url) for word in VERBS[verb]]
        status, _, error = interrupt([program.PROGRAM, *words], server, number, tmp_path)
    assert (status, "stopped on request" in error) == (130, True), error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["cat", "stats", "verify", "convert", "volume verify", "volume cutout"])
def test_the_first_signal_stops_a_verb_that_reads_shards(served, tmp_path, verb):
    with RangeServer(served, shards) as server:
        words = [word.format(server.url) for word in VERBS[verb]]
        status, out, error = interrupt([program.PROGRAM, *words], server, signal.SIGINT, tmp_path)
    assert (status, "stopped on request" in error) == (130, True), error
    # What was not read for the stop is not damaged.
    assert len(error.splitlines()) == 1 and not out, error


CALLS = {
    "open": "dolium.open(url + '/set')",
    "info": "dolium.info(url + '/set')",
    "verify": "dolium.verify(url + '/set')",
    "volume": "dolium.Volume.open(url + '/volume')",
    "convert": "dolium.convert(url + '/set', 'target')",
    "shardpack": "shardpack.open(url + '/a.shardpack')",
    "transcode": "dolium.volume.transcode(url + '/volume', 'target', encoding='png')",
    "shardpack.verify": "shardpack.verify(url + '/a.shardpack')",
    "shardpack.repair": "shardpack.repair(url + '/a.shardpack', 'b.shardpack')",
    "shardpack.stream": "list(shardpack.stream(url + '/a.shardpack'))",
    "plan_import": "shardpack.plan_import(url + '/samples.tar', 'b.shardpack', from_='webdataset').run()",
    "plan_reshard": "shardpack.plan_reshard(url + '/a.shardpack', 'b.shardpack')",
    "plan_sort": "shardpack.plan_sort(url + '/a.shardpack', 'b.shardpack')",
    "plan_shuffle": "shardpack.plan_shuffle(url + '/a.shardpack', 'b.shardpack')",
    "plan_subset": "shardpack.plan_subset(url + '/a.shardpack', 'b.shardpack', prefix='a')",
    "plan_compact": "shardpack.plan_compact(url + '/a.shardpack', 'b.shardpack')",
    "plan_export": "shardpack.plan_export(url + '/a.shardpack', 'target', to='folder')",
}
# Which open the set first, from a server that answers till then.
SET_CALLS = {
    "dataset[i]": "dataset[0]['x'].data",
    "read_many": "dataset.read_many([0, 1])",
    "tuples": "dataset.tuples('x')[0]",
    "records": "list(dataset.records())",
    "loader": "list(dataset.loader(1, prefetch=0))",
}
SHARD_CALLS = {
    "get": "dolium.open(url + '/set')[7]",
    "get_many": "dolium.open(url + '/set').get_many([1, 2, 3])",
    "in": "7 in dolium.open(url + '/set')",
    "items": "list(dolium.open(url + '/set').items())",
    "keys": "list(dolium.open(url + '/set'))",
    "len": "len(dolium.open(url + '/set'))",
    "cutout": "dolium.Volume.open(url + '/volume')[0:8, 0:8, 0:8]",
}
SET_SCRIPT = """
import sys, urllib.error, urllib.request, shardpack
url = sys.argv[1]
dataset = shardpack.open(url + '/large.shardpack')
try:
    urllib.request.urlopen(url + '/opened')
except urllib.error.HTTPError:
    pass
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
"""
SCRIPT = """
import sys, dolium, dolium.volume, shardpack
url = sys.argv[1]
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("call", [*CALLS, *SHARD_CALLS])
def test_ctrl_c_stops_a_call(served, tmp_path, call):
    is_slow = everything if call in CALLS else shards
    script = SCRIPT.format({**CALLS, **SHARD_CALLS}[call])
    with RangeServer(served, is_slow) as server:
        command = [sys.executable, "-c", script, server.url]
        status, out, error = interrupt(command, server, signal.SIGINT, tmp_path)
    assert (status, out) == (0, "interrupted\n"), error


class OnceOpened:
    """Slow after somebody has asked for /opened."""

    def __init__(self):
        self._is_opened = False

    def __call__(self, path):
        self._is_opened |= path == "/opened"
        return self._is_opened and path != "/opened"


@pytest.mark.parametrize("call", SET_CALLS)
def test_ctrl_c_stops_a_read_of_a_set(served, tmp_path, call):
    script = SET_SCRIPT.format(SET_CALLS[call])
    with RangeServer(served, OnceOpened()) as server:
        command = [sys.executable, "-c", script, server.url]
        status, out, error = interrupt(command, server, signal.SIGINT, tmp_path)
    assert (status, out) == (0, "interrupted\n"), error


def test_a_server_below_the_minimum_rate_is_given_up(served):
    limits = {"DOLIUM_HTTP_TIMEOUT": "1", "DOLIUM_HTTP_MIN_RATE": "1000"}
    with RangeServer(served, lambda path: path.endswith("/info"), trickles=True) as server:
        done = subprocess.run(
            [program.PROGRAM, "cat", "--spec", f"{server.url}/set/info", ".", "7"],
            env={**os.environ, **limits},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 3
    assert "Operation too slow. Less than 1000 bytes/sec" in done.stderr, done.stderr


@pytest.mark.parametrize("variable", ["DOLIUM_HTTP_TIMEOUT", "DOLIUM_HTTP_MIN_RATE"])
def test_a_limit_that_is_no_number_is_refused(variable):
    done = subprocess.run(
        [program.PROGRAM, "info", "http://127.0.0.1:9/set"],
        env={**os.environ, variable: "fast"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f'{variable}: "fast" is not a number from 1 to' in done.stderr
