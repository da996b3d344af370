"""Sets behind a plain file server: every value, and no request too many."""

import dolium
import pytest

import program
import sharded_sets
from peers import TensorStoreSet
from range_server import RangeServer
from sharded_sets import make_spec


def shard_reads(server):
    """Requests for bytes of shards; a HEAD, which asks whether a shard has changed, is none."""
    log = [request for request in server.take_log() if request.path.endswith(".shard")]
    return [request for request in log if request.method != "HEAD"]


@pytest.mark.parametrize(
    "spec", sharded_sets.grid(((0, 0, 0), (0, 3, 2))), ids=sharded_sets.name
)
def test_every_value_comes_over_http(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    TensorStoreSet(tmp_path / "set", spec).write(chunks)
    with RangeServer(tmp_path) as server:
        there = dolium.open(f"{server.url}/set", sharding=spec)
        assert {id: there[id] for id in chunks} == chunks
        assert dict(zip(chunks, there.get_many(list(chunks)))) == chunks
        absent = sharded_sets.absent_ids(chunks)
        assert there.get_many(absent) == [None] * len(absent)
        log = shard_reads(server)
        assert log and all(request.range for request in log)


@pytest.mark.parametrize("encoding", sharded_sets.ENCODINGS)
def test_a_cold_read_takes_three_ranges_and_a_warm_one_takes_one(encoding, tmp_path):
    spec = make_spec((0, 5, 1), "murmurhash3_x86_128", encoding, encoding)
    chunks = {id: b"chunk %d " % id * 40 for id in range(20_000)}
    dolium.write_sharded(tmp_path / "set", spec, chunks)
    where = dolium.ShardingSpec.from_json(spec)
    neighbours = [id for id in chunks if where.place(id) == where.place(77)]
    same_shard = next(
        id for id in chunks if where.place(id)[0] == where.place(77)[0] and id not in neighbours
    )
    with RangeServer(tmp_path) as server:
        there = dolium.open(f"{server.url}/set")
        assert shard_reads(server) == []
        assert there[77] == chunks[77]
        cold = shard_reads(server)
        assert len(cold) == 3 and all(r.method == "GET" and r.range for r in cold)
        # The shard index, a minishard index, the value.
        assert cold[0].range == (0, 16 * 2**5 - 1)
        assert there[77] == chunks[77]
        assert len(shard_reads(server)) == 1
        assert there[neighbours[-1]] == chunks[neighbours[-1]]
        assert len(shard_reads(server)) == 1
        assert there[same_shard] == chunks[same_shard]
        assert len(shard_reads(server)) == 2


def test_an_absent_chunk_is_asked_for_no_longer_than_needed(tmp_path):
    spec = make_spec((0, 2, 1))
    dolium.write_sharded(tmp_path / "set", spec, {0: b"a", 8: b"b"})
    with RangeServer(tmp_path) as server:
        there = dolium.open(f"{server.url}/set")
        assert there.get(1) is None  # an empty minishard
        assert len(shard_reads(server)) == 1
        assert there.get(16) is None  # not in its minishard
        assert len(shard_reads(server)) == 1
        assert there.get(4) is None  # no such shard
        assert len(shard_reads(server)) == 1


def test_a_batch_takes_few_requests(tmp_path):
    spec = make_spec((0, 2, 0), "murmurhash3_x86_128")
    chunks = {id: b"chunk %d " % id * 10 for id in range(2_000)}
    dolium.write_sharded(tmp_path / "set", spec, chunks)
    with RangeServer(tmp_path) as server:
        there = dolium.open(f"{server.url}/set")
        assert there.get_many(list(chunks)) == list(chunks.values())
        assert len(shard_reads(server)) <= 20


def test_a_shard_that_is_replaced_meanwhile_gives_its_new_values(tmp_path):
    spec = make_spec((0, 1, 0))
    folder = tmp_path / "set"
    chunks = {id: b"old %d" % id for id in range(50)}
    dolium.write_sharded(folder, spec, chunks)
    with RangeServer(tmp_path) as server:
        there = dolium.open(f"{server.url}/set")
        assert there.get_many(list(chunks)) == list(chunks.values())
        chunks = {id: b"quite new %d" % id for id in range(0, 60, 2)}
        dolium.write_sharded(folder, spec, chunks, force=True)
        assert there.get_many(list(chunks)) == list(chunks.values())
        assert there[58] == b"quite new 58"
        assert there.get(1) is None


def test_the_program_reads_urls(tmp_path):
    chunks = {id: b"chunk %d" % id for id in range(30)}
    dolium.write_sharded(tmp_path / "set", make_spec((0, 1, 1), index="gzip"), chunks)
    with RangeServer(tmp_path) as server:
        assert program.run("cat", f"{server.url}/set", 17) == b"chunk 17"
        program.run("cat", f"{server.url}/set", 30, status=1)
        keys = program.run("ls", f"{server.url}/set/0.shard").split()
        assert sorted(map(int, keys)) == [id for id in chunks if id >> 1 & 1 == 0]
        lines = program.json_lines("verify", f"{server.url}/set/1.shard")
        assert [line["type"] for line in lines] == ["summary"] and lines[0]["errors"] == 0
