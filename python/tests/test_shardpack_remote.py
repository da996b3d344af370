"""Sets behind a server: how much is asked for, and how often."""

import http.server
import json
import threading

import pytest

import shardpack
from pack_makers import number_of, numbers_in, write_set

from range_server import RangeServer


@pytest.fixture
def served(tmp_path):
    write_set(tmp_path, 400, shard_records=100)
    with RangeServer(tmp_path) as server:
        yield server


def reference(server):
    return server.url + "/train-{000000..000003}.shardpack"


def test_opening_is_one_request_per_shard(served):
    dataset = shardpack.open(reference(served), tail_bytes=6_000)
    log = served.take_log()
    assert len(dataset) == 400
    assert sorted((request.path, request.range) for request in log) == [
        (f"/train-00000{n}.shardpack", (-6_000, -1)) for n in range(4)
    ]
    assert number_of(dataset[250]) == 250
    assert len(served.take_log()) == 1
    assert dataset.find("sample00399") == 399
    assert len(served.take_log()) <= 1
    assert [number_of(record) for record in dataset[100:140]] == list(range(100, 140))
    assert len(served.take_log()) == 1  # neighbours in one request


def test_an_index_that_is_longer_than_thought_is_one_request_more(served, tmp_path):
    shard = shardpack.open(tmp_path).shards[0]
    tail = shard["size"] - shard["index_offset"]
    dataset = shardpack.open(served.url + "/train-000000.shardpack", tail_bytes=tail - 100)
    assert [request.range for request in served.take_log()] == [
        (100 - tail, -1),
        (shard["index_offset"], shard["index_offset"] + 99),
    ]
    assert number_of(dataset[99]) == 99


def test_tuples_fetch_only_their_files(tmp_path):
    with shardpack.Writer(tmp_path / "e.shardpack") as writer:
        for number in range(20):
            writer.write(f"k{number}", {"big.bin": bytes(200_000), "m.json": f"{number}"})
    with RangeServer(tmp_path) as server:
        dataset = shardpack.open(server.url + "/e.shardpack", tail_bytes=10_000)
        server.take_log()
        tuples = dataset.tuples("m.json", "__key__")
        assert tuples[[1, 5, 9]] == ([b"1", b"5", b"9"], ["k1", "k5", "k9"])
        ranges = [request.range for request in server.take_log()]
        assert sum(last - first + 1 for first, last in ranges) < 1_000
        assert tuples[7] == (b"7", "k7")
        ranges = [request.range for request in server.take_log()]
        assert sum(last - first + 1 for first, last in ranges) < 1_000
        assert len(dataset.tuples("big.bin")[3][0]) == 200_000


@pytest.mark.parametrize("world", [1, 2])
def test_windows_read_each_run_once(served, world):
    dataset = shardpack.open(reference(served), tail_bytes=6_000)
    served.take_log()
    seen = []
    for rank in range(world):
        loader = dataset.loader(
            10, shuffle="window", run_bytes=4_000, window_runs=4, rank=rank, world=world, seed=1
        )
        seen += numbers_in(loader)
    assert sorted(seen) == list(range(400))
    by_windows = len(served.take_log())
    runs = sum(-(-shard["index_offset"] // 4_000) for shard in dataset.shards)
    assert by_windows <= world * (runs + 4)
    assert sorted(numbers_in(dataset.loader(10, shuffle=True))) == list(range(400))
    assert len(served.take_log()) > 2 * by_windows


def test_loaders_resume_over_the_network(served):
    dataset = shardpack.open(reference(served))
    for shuffle in (True, "window"):
        options = {"shuffle": shuffle, "run_bytes": 4_000, "window_runs": 4}
        whole = numbers_in(dataset.loader(16, **options))
        loader = dataset.loader(16, **options)
        passing = iter(loader)
        seen = numbers_in(next(passing) for _ in range(5))
        other = shardpack.open(reference(served)).loader(7, **options)
        other.load_state_dict(loader.state_dict())
        assert seen + numbers_in(other) == whole


def test_records_are_read_many_at_once(served):
    dataset = shardpack.open(reference(served), tail_bytes=6_000)
    served.take_log()
    assert numbers_in([dataset.records()]) == list(range(400))
    assert len(served.take_log()) == 4


def test_streams_over_the_network(served):
    keys = [record.key for record in shardpack.stream(served.url + "/train-000001.shardpack")]
    assert keys == [f"sample{n:05}" for n in range(100, 200)]


def test_what_is_not_there_is_not_found(served):
    with pytest.raises(FileNotFoundError, match="train-000009"):
        shardpack.open(served.url + "/train-000009.shardpack")


class _Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_refusals_are_no_damage():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(OSError, match="403"):
        shardpack.open(f"http://127.0.0.1:{server.server_port}/a.shardpack")
    server.shutdown()
    server.server_close()


def test_a_catalog_spares_the_tails(served, tmp_path):
    shards = []
    for shard in shardpack.open(tmp_path).shards:
        shards.append(
            {
                "path": shard["path"].rpartition("/")[2],
                "size": shard["size"],
                "records": shard["records"],
                "index_offset": shard["index_offset"],
                "footer_crc32c": f"{shard['footer_crc32c']:08x}",
            }
        )
    totals = {"shards": 4, "records": 400, "size": sum(shard["size"] for shard in shards)}
    catalog = {"shardpack_catalog": 1, "totals": totals, "columns": [], "shards": shards}
    (tmp_path / "catalog.json").write_text(json.dumps(catalog))
    served.take_log()
    dataset = shardpack.open(served.url + "/catalog.json")
    assert len(dataset) == 400
    assert {request.path for request in served.take_log()} == {"/catalog.json"}
    assert number_of(dataset[150]) == 150
    assert {request.path for request in served.take_log()} == {"/train-000001.shardpack"}


def test_joined_and_overlaid_sets_are_read_many_at_once(served, tmp_path):
    with shardpack.Writer(tmp_path / "masks-000000.shardpack", shard_records=100) as writer:
        for number in range(400):
            writer.write(f"sample{number:05}", {"mask": str(number)})
    with shardpack.Writer(tmp_path / "fixes.shardpack") as writer:
        writer.write("sample00005", {"number.json": b"55"})
        writer.delete("sample00007")
    base = shardpack.open(reference(served), tail_bytes=6_000)
    masks = shardpack.open(served.url + "/masks-{000000..000003}.shardpack", tail_bytes=6_000)
    joined = shardpack.join([base, masks])
    served.take_log()
    for record in joined.read_many(range(400)):
        assert record["mask"].data == record["number.json"].data
    assert len(served.take_log()) <= 8  # one for each shard of each column

    fixed = shardpack.overlay(base, shardpack.open(served.url + "/fixes.shardpack"))
    served.take_log()
    found = [number_of(record) for record in fixed.read_many(range(len(fixed)))]
    assert found == [*range(5), 55, 6, *range(8, 400)]
    assert len(served.take_log()) <= 4 + 2  # and the sample that is changed


def body_bytes(server):
    """What the server sent to the requests since the last call."""
    sent = 0
    for request in server.take_log():
        size = (server.folder / request.path.lstrip("/")).stat().st_size
        if request.method == "GET" and request.range is None:
            sent += size
        elif request.method == "GET":
            first, last = request.range
            sent += min(-first, size) if first < 0 else last - first + 1
    return sent


def test_opening_fetches_what_it_needs(tmp_path):
    with shardpack.Writer(tmp_path / "a.shardpack") as writer:
        for number in range(20_000):
            writer.write(f"k{number:05}", {"n": bytes(200)})
    shard = shardpack.open(tmp_path / "a.shardpack").shards[0]
    index = 8 * (20_000 + 1)
    assert shard["size"] > 4_000_000
    with RangeServer(tmp_path) as server:
        server.folder = tmp_path
        dataset = shardpack.open(server.url + "/a.shardpack")
        assert len(dataset) == 20_000
        assert body_bytes(server) <= (64 << 10) + index

        folder = tmp_path / "cache"
        assert len(shardpack.open(server.url + "/a.shardpack", cache=folder)) == 20_000
        assert body_bytes(server) <= (64 << 10) + index + 3 * (64 << 10)  # whole blocks
        for _ in range(3):
            assert len(shardpack.open(server.url + "/a.shardpack", cache=folder)) == 20_000
        assert body_bytes(server) == 0
