"""Sets and loaders in threads and processes, however these are started."""

import concurrent.futures
import http.server
import multiprocessing
import os
import pickle
import signal
import threading
import time

import pytest

import shardpack
from pack_makers import number_of, numbers_in, write_set

from range_server import RangeServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    write_set(folder, 200, shard_records=60)
    return folder


def sum_of(dataset, begin, end):
    return sum(number_of(record) for record in dataset[begin:end])


def epoch_of(loader):
    return numbers_in(loader)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_read_at_once(folder, method):
    dataset = shardpack.open(folder)
    assert number_of(dataset[0]) == 0
    loader = dataset.loader(9, shuffle=True, seed=4)
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        sums = processes.map(sum_of, [dataset] * 4, range(0, 200, 50), range(50, 201, 50))
        assert sum(sums) == sum(range(200))
        assert processes.submit(epoch_of, loader).result() == numbers_in(loader)


def test_what_is_pickled_is_small(folder):
    dataset = shardpack.open(folder)
    numbers_in([dataset])
    assert len(pickle.dumps(dataset)) < 500
    assert len(pickle.dumps(dataset.loader(4))) < 2000
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(dataset[0])


def run_forked(work):
    """The exit status of a forked child that does this."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:This process")  # that it has threads
@pytest.mark.parametrize("is_remote", [False, True])
def test_forked_children_open_anew(folder, is_remote):
    with RangeServer(folder) as server:
        reference = server.url + "/train-{000000..000003}.shardpack" if is_remote else folder
        dataset = shardpack.open(reference)
        passing = iter(dataset.loader(5, shuffle=True))
        seen = numbers_in([next(passing)])

        def read():
            assert numbers_in([dataset]) == list(range(200))
            assert sorted(numbers_in(dataset.loader(7, shuffle=True))) == list(range(200))
            with pytest.raises(RuntimeError, match="forked"):
                next(passing)

        assert run_forked(read) == 0
        assert run_forked(read) == 0
        # And the parent goes on as if nothing had been.
        assert sorted(seen + numbers_in(passing)) == list(range(200))


def test_threads_share_a_set(folder):
    dataset = shardpack.open(folder)

    def read(rank):
        loader = dataset.loader(6, shuffle=True, rank=rank, world=4, remainder="keep")
        return numbers_in(loader)

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        parts = list(threads.map(read, range(4)))
        assert sorted(sum(parts, [])) == list(range(200))
        keys = list(threads.map(dataset.find, [f"sample{n:05}" for n in range(200)]))
        assert keys == list(range(200))


def test_writers_in_several_processes(tmp_path):
    """Each worker writes shards of its own; together they are a set."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        list(processes.map(_write_shard, [tmp_path] * 4, range(4)))
    dataset = shardpack.open(tmp_path / "part-{000000..000003}.shardpack")
    assert [record.key for record in dataset] == [f"{s}/{n}" for s in range(4) for n in range(10)]


def _write_shard(folder, shard):
    with shardpack.Writer(folder / f"part-{shard:06}.shardpack") as writer:
        for number in range(10):
            writer.write(f"{shard}/{number}", {"x": b"1"})


def test_nothing_is_left_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = set(os.listdir("/dev/shm"))
    for _ in shardpack.open(folder).loader(8, shuffle="window"):
        pass
    # What other processes make there goes again; ours would not.
    until = time.monotonic() + 60
    while set(os.listdir("/dev/shm")) - before and time.monotonic() < until:
        time.sleep(0.01)
    assert set(os.listdir("/dev/shm")) - before == set()
    assert os.listdir(tmp_path) == []


class SlowFiles(http.server.SimpleHTTPRequestHandler):
    """Answers ranges, those of the first bytes only once it may."""

    may_answer = threading.Event()
    is_asked = threading.Event()

    def do_HEAD(self):
        size = (self.server.folder / self.path.lstrip("/")).stat().st_size
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.send_header("ETag", '"1"')
        self.end_headers()

    def do_GET(self):
        data = (self.server.folder / self.path.lstrip("/")).read_bytes()
        wanted = self.headers.get("Range", "bytes=0-").removeprefix("bytes=")
        begin, _, end = wanted.partition("-")
        first = len(data) - int(end) if not begin else int(begin)
        last = len(data) - 1 if not begin or not end else min(int(end), len(data) - 1)
        first = max(first, 0)
        if begin == "0":
            SlowFiles.is_asked.set()
            SlowFiles.may_answer.wait(120)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def log_message(self, *arguments):
        pass


@pytest.mark.parametrize("is_cached", [True, False])
def test_a_child_is_forked_while_a_thread_waits(tmp_path, is_cached):
    # Large enough that its end is in another block of the cache than its first sample.
    write_set(tmp_path, 3000, shard_records=3000)
    SlowFiles.may_answer.clear()
    SlowFiles.is_asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowFiles)
    server.folder = tmp_path
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/train-000000.shardpack"
        cache = tmp_path / "cache" if is_cached else None
        dataset = shardpack.open(url, tail_bytes=600, cache=cache)
        reader = threading.Thread(target=lambda: dataset[0], daemon=True)
        reader.start()
        assert SlowFiles.is_asked.wait(120)
        # The child asks for itself; the server soon lets both go on.
        threading.Timer(1, SlowFiles.may_answer.set).start()

        def read_in_child():
            signal.alarm(120)
            assert number_of(dataset[0]) == 0

        assert run_forked(read_in_child) == 0
        reader.join(120)
        assert not reader.is_alive()
    finally:
        SlowFiles.may_answer.set()
        server.shutdown()
        server.server_close()
