"""Sets behind a server that answers no ranges, as `python -m http.server` is one: what reads front to
back, and what keeps whole shards in a cache, asks by a plain GET."""

import functools
import http.server
import threading

import pytest

import shardpack
from pack_makers import number_of, numbers_in, write_set


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.gets.append(self.path)
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    write_set(folder, 400, shard_records=200)
    handler = functools.partial(_Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.gets = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_streams_work(server):
    keys = [record.key for record in shardpack.stream(server.url + "/train-000001.shardpack")]
    assert keys == [f"sample{n:05}" for n in range(200, 400)]


def test_a_cache_keeps_whole_shards(server, tmp_path):
    reference = server.url + "/train-{000000..000001}.shardpack"

    def opened():
        return shardpack.open(reference, cache=tmp_path / "cache", tail_bytes=1_000)

    dataset = opened()
    assert len(dataset) == 400
    assert numbers_in([dataset]) == list(range(400))
    assert dataset.find("sample00321") == 321
    asked = len(server.gets)
    assert number_of(opened()[123]) == 123
    assert len(server.gets) == asked
    # A ranged request that was refused, and the plain one, for each shard.
    assert asked <= 4


def test_without_a_cache_random_reads_are_refused(server):
    with pytest.raises(NotImplementedError, match="ignores Range"):
        shardpack.open(server.url + "/train-000000.shardpack", tail_bytes=1_000)[0]
