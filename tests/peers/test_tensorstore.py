"""TensorStore reads what we write, and we read what it writes."""

import dolium
import pytest

import program
import sharded_sets
from peers import TensorStoreSet
from sharded_sets import LARGEST_ID, make_spec

# cloud-volume does not take a preshift of 64, TensorStore does.
GRID = sharded_sets.grid(sharded_sets.BITS + ((64, 0, 0), (64, 2, 1)))
RAW_GRID = [
    spec
    for spec in GRID
    if spec["minishard_index_encoding"] == "raw" and spec["data_encoding"] == "raw"
]


@pytest.mark.parametrize("spec", GRID, ids=sharded_sets.name)
def test_it_reads_what_we_write(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    dolium.write_sharded(tmp_path / "ours", spec, chunks.items())
    theirs = TensorStoreSet(tmp_path / "ours", spec)
    if spec["shard_bits"] <= 16:
        assert theirs.ids() == sorted(chunks)
    assert {id: theirs.read(id) for id in chunks} == chunks
    assert {theirs.read(id) for id in sharded_sets.absent_ids(chunks)} == {None}


@pytest.mark.parametrize("spec", GRID, ids=sharded_sets.name)
def test_we_read_what_it_writes(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    TensorStoreSet(tmp_path / "theirs", spec).write(chunks)
    ours = dolium.open(tmp_path / "theirs", sharding=spec)
    assert sorted(ours) == sorted(chunks)
    assert {id: ours[id] for id in chunks} == chunks
    assert dict(zip(chunks, ours.get_many(list(chunks)))) == chunks
    absent = sharded_sets.absent_ids(chunks)
    assert ours.get_many(absent) == [None] * len(absent)
    for id in absent:
        with pytest.raises(KeyError):
            ours[id]
    report = ours.verify()
    assert (report.errors, report.warnings, report.entries) == (0, 0, len(chunks))


@pytest.mark.parametrize("spec", RAW_GRID, ids=sharded_sets.name)
def test_raw_shards_are_equal_byte_for_byte(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    in_other_order = dict(reversed(list(chunks.items())))
    dolium.write_sharded(tmp_path / "ours", spec, in_other_order.items())
    TensorStoreSet(tmp_path / "theirs", spec).write(chunks)
    theirs = sharded_sets.shard_files(tmp_path / "theirs")
    assert theirs and sharded_sets.shard_files(tmp_path / "ours") == theirs


def test_empty_minishards_and_absent_shards_are_alike(tmp_path):
    spec = make_spec((0, 3, 2))
    # Minishards 1 and 6 of shards 0 and 3 alone.
    chunks = {
        shard << 3 | minishard | high << 5: b"%d/%d" % (shard, minishard)
        for shard in (0, 3)
        for minishard in (1, 6)
        for high in range(5)
    }
    dolium.write_sharded(tmp_path / "ours", spec, chunks.items())
    TensorStoreSet(tmp_path / "theirs", spec).write(chunks)
    files = sharded_sets.shard_files(tmp_path / "ours")
    assert sorted(files) == ["0.shard", "3.shard"]
    assert files == sharded_sets.shard_files(tmp_path / "theirs")
    empty_row = files["0.shard"][0:16]
    assert empty_row == bytes(16)
    ours = dolium.open(tmp_path / "theirs", sharding=spec)
    assert dict(ours.items()) == chunks
    assert ours.get_many([0, 8, 16, 1 << 3 | 1]) == [None] * 4


@pytest.mark.parametrize("hash", sharded_sets.HASHES)
@pytest.mark.parametrize("encoding", sharded_sets.ENCODINGS)
def test_it_sees_what_we_put_and_remove(hash, encoding, tmp_path):
    spec = make_spec((0, 2, 2), hash, encoding, encoding)
    chunks = sharded_sets.make_chunks()
    folder = tmp_path / "set"
    dolium.write_sharded(folder, spec, chunks.items())
    ours = dolium.open(folder)
    new = {5: b"five", 1001: b"replaced", LARGEST_ID - 2: b"", 2**40: b"far" * 1000}
    ours.put(5, new[5])
    ours[1001] = new[1001]
    ours.put(LARGEST_ID - 2, new[LARGEST_ID - 2])
    ours.put(2**40, new[2**40])
    ours.remove(1000)
    del ours[LARGEST_ID]
    expected = chunks | new
    del expected[1000], expected[LARGEST_ID]

    theirs = TensorStoreSet(folder, spec)
    assert theirs.ids() == sorted(expected)
    assert {id: theirs.read(id) for id in expected} == expected
    assert theirs.read(1000) is None and theirs.read(LARGEST_ID) is None
    if encoding == "raw":
        TensorStoreSet(tmp_path / "theirs", spec).write(expected)
        assert sharded_sets.shard_files(folder) == sharded_sets.shard_files(tmp_path / "theirs")


def test_it_sees_what_the_program_puts_and_removes(tmp_path):
    spec = make_spec((0, 1, 1))
    chunks = {id: b"chunk %d" % id for id in range(40)}
    folder = tmp_path / "set"
    dolium.write_sharded(folder, spec, chunks.items())
    (tmp_path / "value").write_bytes(b"from a file")
    program.run("put", folder, 100, tmp_path / "value")
    program.run("put", folder, 7, "-", "--force", stdin=b"from standard input")
    program.run("rm", folder, 8, 9)
    chunks |= {100: b"from a file", 7: b"from standard input"}
    del chunks[8], chunks[9]

    theirs = TensorStoreSet(folder, spec)
    assert theirs.ids() == sorted(chunks)
    assert {id: theirs.read(id) for id in chunks} == chunks


def test_a_shard_that_loses_its_last_chunk_is_gone_for_both(tmp_path):
    spec = make_spec((0, 0, 1))
    folder = tmp_path / "set"
    dolium.write_sharded(folder, spec, {0: b"even", 1: b"odd", 3: b"odd too"}.items())
    TensorStoreSet(tmp_path / "theirs", spec).write({0: b"even"})
    ours = dolium.open(folder)
    ours.remove(1)
    ours.remove(3)
    assert list(ours) == [0]
    assert sharded_sets.shard_files(folder) == sharded_sets.shard_files(tmp_path / "theirs")


def test_an_open_container_sees_what_it_changes(tmp_path):
    spec = make_spec((0, 1, 1), "murmurhash3_x86_128")
    chunks = {id: b"chunk %d" % id * 10 for id in range(100)}
    folder = tmp_path / "set"
    dolium.write_sharded(folder, spec, chunks.items())
    ours = dolium.open(folder)
    assert ours.get_many(list(chunks)) == list(chunks.values())
    TensorStoreSet(folder, spec).write({3: b"new", 1000: b"more"}, remove=[4])
    chunks |= {3: b"new", 1000: b"more"}
    del chunks[4]
    assert ours.get_many(list(chunks)) == list(chunks.values())
    assert ours[3] == b"new" and ours[1000] == b"more"
    with pytest.raises(KeyError):
        ours[4]
    assert sorted(ours) == sorted(chunks)


def test_it_adds_to_what_we_wrote_and_we_to_what_it_wrote(tmp_path):
    spec = make_spec((1, 2, 1), "murmurhash3_x86_128", "gzip", "gzip")
    folder = tmp_path / "set"
    expected = {}
    for round in range(4):
        chunks = {round * 100 + i: b"round %d" % round * i for i in range(20)}
        expected |= chunks
        if round == 0:
            dolium.write_sharded(folder, spec, chunks.items())
        elif round % 2 == 1:
            TensorStoreSet(folder, spec).write(chunks)
        else:
            ours = dolium.open(folder)
            for id, value in chunks.items():
                ours.put(id, value)
    theirs = TensorStoreSet(folder, spec)
    assert {id: theirs.read(id) for id in theirs.ids()} == expected
    assert dict(dolium.open(folder).items()) == expected


@pytest.mark.parametrize("to", sharded_sets.grid(((0, 2, 1), (3, 0, 4))), ids=sharded_sets.name)
def test_it_reads_what_we_reshard(to, tmp_path):
    chunks = sharded_sets.make_chunks(seed=1)
    spec = make_spec((0, 4, 2), "murmurhash3_x86_128", "gzip", "gzip")
    TensorStoreSet(tmp_path / "theirs", spec).write(chunks)
    dolium.convert(tmp_path / "theirs", tmp_path / "ours", from_sharding=spec, sharding=to)
    theirs = TensorStoreSet(tmp_path / "ours", to)
    assert theirs.ids() == sorted(chunks)
    assert {id: theirs.read(id) for id in chunks} == chunks
    if to["minishard_index_encoding"] == to["data_encoding"] == "raw":
        TensorStoreSet(tmp_path / "direct", to).write(chunks)
        assert sharded_sets.shard_files(tmp_path / "ours") == sharded_sets.shard_files(
            tmp_path / "direct"
        )
