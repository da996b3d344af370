"""cloud-volume reads what we write, and we read what it writes."""

import dolium
import pytest

import sharded_sets
from peers import CloudVolumeSet
from sharded_sets import LARGEST_ID, make_spec

GRID = sharded_sets.grid()


@pytest.mark.parametrize("spec", GRID, ids=sharded_sets.name)
def test_it_reads_what_we_write(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    dolium.write_sharded(tmp_path / "ours", spec, chunks.items())
    theirs = CloudVolumeSet(tmp_path / "ours", spec)
    assert theirs.read_all() == chunks
    # Its ranged reads take one of two empty values at the same place for the other.
    present = {id: value for id, value in chunks.items() if value}
    absent = sharded_sets.absent_ids(chunks)[:4]
    assert theirs.read_many([*present, *absent]) == present | dict.fromkeys(absent)
    assert theirs.read(LARGEST_ID) == chunks[LARGEST_ID]


@pytest.mark.parametrize("spec", GRID, ids=sharded_sets.name)
def test_we_read_what_it_writes(spec, tmp_path):
    chunks = sharded_sets.make_chunks()
    CloudVolumeSet(tmp_path / "theirs", spec).write(chunks)
    ours = dolium.open(tmp_path / "theirs", sharding=spec)
    assert dict(ours.items()) == chunks
    assert {id: ours[id] for id in chunks} == chunks
    assert dict(zip(chunks, ours.get_many(list(chunks)))) == chunks
    absent = sharded_sets.absent_ids(chunks)
    assert ours.get_many(absent) == [None] * len(absent)
    report = ours.verify()
    assert (report.errors, report.entries) == (0, len(chunks))


@pytest.mark.parametrize("encoding", sharded_sets.ENCODINGS)
def test_it_reads_what_we_change_in_its_shards(encoding, tmp_path):
    spec = make_spec((0, 2, 1), "murmurhash3_x86_128", encoding, encoding)
    chunks = sharded_sets.make_chunks()
    folder = tmp_path / "set"
    CloudVolumeSet(folder, spec).write(chunks)
    ours = dolium.open(folder, sharding=spec)
    ours.put(5, b"five")
    ours[1001] = b"replaced"
    ours.remove(1000)
    chunks |= {5: b"five", 1001: b"replaced"}
    del chunks[1000]
    theirs = CloudVolumeSet(folder, spec)
    assert theirs.read_all() == chunks
    assert theirs.read_many([5, 1001, 1000]) == {5: b"five", 1001: b"replaced", 1000: None}


def test_its_layout_becomes_ours_by_convert(tmp_path):
    spec = make_spec((0, 3, 1))
    chunks = sharded_sets.make_chunks(seed=2)
    CloudVolumeSet(tmp_path / "theirs", spec).write(chunks)
    dolium.convert(tmp_path / "theirs", tmp_path / "ours", from_sharding=spec, sharding=spec)
    dolium.write_sharded(tmp_path / "direct", spec, chunks.items())
    ours = sharded_sets.shard_files(tmp_path / "ours")
    assert ours == sharded_sets.shard_files(tmp_path / "direct")
    assert ours != sharded_sets.shard_files(tmp_path / "theirs")
