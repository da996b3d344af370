import json
import threading

import numpy as np
import pytest
from conftest import SPEC, make_values

import dolium


def files_of(location):
    return {path.name: path.read_bytes() for path in location.iterdir()}


def test_every_kind_of_items_gives_the_same_files(tmp_path, values):
    summary = dolium.write_sharded(tmp_path / "dict", SPEC, values)
    assert summary.entries == len(values)
    assert summary.value_bytes == sum(map(len, values.values()))
    expected = files_of(tmp_path / "dict")
    assert summary.objects == len(expected) - 1  # All but the info.
    assert summary.stored_bytes == sum(
        len(data) for name, data in expected.items() if name != "info"
    )

    shuffled = sorted(values.items(), key=lambda item: item[1])
    kinds = {
        "list": shuffled,
        "generator": ((key, memoryview(value)) for key, value in shuffled),
        "lists": [[np.uint64(key), bytearray(value)] for key, value in shuffled],
        "strings": ((str(key), value, b"") for key, value in shuffled),
    }
    for name, items in kinds.items():
        dolium.write_sharded(tmp_path / name, SPEC.to_dict(), items, memory=1 << 16, jobs=1)
        assert files_of(tmp_path / name) == expected, name
    with dolium.ShardedWriter(tmp_path / "writer", SPEC.to_json()) as writer:
        for key, value in shuffled:
            writer.add(key, value)
        assert writer.summary is None
    assert writer.summary == summary
    assert files_of(tmp_path / "writer") == expected


def test_columns_give_the_same_files_as_items(tmp_path):
    rng = np.random.default_rng(0)
    ids = rng.permutation(5000).astype(np.uint64)
    rows = rng.integers(0, 256, (5000, 40), dtype=np.uint8)
    dolium.write_sharded(tmp_path / "items", SPEC, zip(ids, rows))
    expected = files_of(tmp_path / "items")
    dolium.write_sharded(tmp_path / "rows", SPEC, ids=ids, values=rows)
    dolium.write_sharded(tmp_path / "words", SPEC, ids=ids, values=rows.view(np.uint64))
    dolium.write_sharded(tmp_path / "list", SPEC, ids=list(ids), values=[bytes(r) for r in rows])
    for name in ("rows", "words", "list"):
        assert files_of(tmp_path / name) == expected, name


def test_small_and_large_chunks_mix(tmp_path):
    values = {i: bytes([i % 256]) * (100_000 if i % 7 == 0 else 10) for i in range(200)}
    dolium.write_sharded(tmp_path / "set", SPEC, values, memory=1 << 20)
    assert dict(dolium.open(tmp_path / "set").items()) == values


def test_refuses_senseless_arguments(tmp_path):
    location = tmp_path / "set"
    ids = np.arange(3, dtype=np.uint64)
    rows = np.zeros((2, 4), np.uint8)
    with pytest.raises(TypeError, match="either items, or both"):
        dolium.write_sharded(location, SPEC)
    with pytest.raises(TypeError, match="either items, or both"):
        dolium.write_sharded(location, SPEC, {}, ids=ids, values=rows)
    with pytest.raises(TypeError, match="either items, or both"):
        dolium.write_sharded(location, SPEC, ids=ids)
    with pytest.raises(TypeError, match="sharding spec"):
        dolium.write_sharded(location, None, {})
    with pytest.raises(TypeError):
        dolium.write_sharded(location, 5, {})
    assert not location.exists()
    with pytest.raises(ValueError, match="3 ids but 2 values"):
        dolium.write_sharded(location, SPEC, ids=ids, values=rows)
    with pytest.raises(ValueError, match="3 ids but 2 values"):
        dolium.write_sharded(location, SPEC, ids=ids, values=[b"", b""])
    for items in ([(1,)], [(1, b"", b"", b"")], [(-1, b"")]):
        with pytest.raises(ValueError):
            dolium.write_sharded(location, SPEC, items)
    for items in ([5], [(1, "text")], [(1.5, b"")], 7):
        with pytest.raises(TypeError):
            dolium.write_sharded(location, SPEC, items)


def test_a_key_given_twice_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match="7"):
        dolium.write_sharded(tmp_path / "set", SPEC, [(7, b"a"), (8, b""), (7, b"b")])


def test_does_not_overwrite_without_force(tmp_path):
    location = tmp_path / "set"
    dolium.write_sharded(location, SPEC, {1: b"old"})
    with pytest.raises(FileExistsError, match="set"):
        dolium.write_sharded(location, SPEC, {1: b"new"})
    assert dolium.open(location)[1] == b"old"
    dolium.write_sharded(location, SPEC, {2: b"new"}, force=True)
    assert dict(dolium.open(location).items()) == {2: b"new"}


def test_an_exception_leaves_the_set_unfinished(tmp_path):
    location = tmp_path / "set"

    def items():
        yield 1, b"one"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        dolium.write_sharded(location, SPEC, items())
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(location, format="neuroglancer")
    with pytest.raises(ZeroDivisionError):
        with dolium.ShardedWriter(location, SPEC) as writer:
            writer.add(1, b"one")
            1 / 0
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(location, format="neuroglancer")
    assert list(dolium.open(location, sharding=SPEC, unfinished=True)) == []

    with dolium.ShardedWriter(location, SPEC) as writer:
        writer.add(2, b"two")
    assert dict(dolium.open(location).items()) == {2: b"two"}


def test_a_writer_ends_once(tmp_path):
    writer = dolium.ShardedWriter(tmp_path / "set", SPEC)
    writer.add(1, b"one")
    assert writer.finish().entries == 1
    with pytest.raises(ValueError, match="finished"):
        writer.add(2, b"two")
    with pytest.raises(ValueError, match="finished"):
        writer.finish()
    writer.abandon()
    assert dolium.open(tmp_path / "set")[1] == b"one"

    other = dolium.ShardedWriter(tmp_path / "other", SPEC)
    other.abandon()
    with pytest.raises(ValueError, match="finished"):
        other.add(1, b"one")


def test_many_threads_may_add(tmp_path):
    with dolium.ShardedWriter(tmp_path / "set", SPEC, memory=1 << 20) as writer:

        def add(first):
            for i in range(first, 20_000, 8):
                writer.add(i, i.to_bytes(100, "little"))

        threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    chunks = dolium.open(tmp_path / "set")
    assert len(chunks) == 20_000
    assert all(value == key.to_bytes(100, "little") for key, value in chunks.items())


def test_the_info_carries_what_the_caller_gives(tmp_path):
    info = {"@type": "neuroglancer_skeletons", "vertex_attributes": []}
    dolium.write_sharded(tmp_path / "set", SPEC, {1: b"1"}, info=info)
    written = json.loads((tmp_path / "set" / "info").read_text())
    assert written == {**info, "sharding": SPEC.to_dict()}
    again = tmp_path / "again"
    dolium.write_sharded(again, None, {1: b"1"}, info=tmp_path / "set" / "info")
    assert dolium.open(again).sharding == SPEC


def test_spills_to_the_folder_given(tmp_path):
    spill = tmp_path / "spill"
    spill.mkdir()
    values = make_values(3000)
    dolium.write_sharded(tmp_path / "set", SPEC, values, memory=1 << 16, spill_folder=spill)
    assert dict(dolium.open(tmp_path / "set").items()) == values
    assert list(spill.iterdir()) == []


def test_progress_is_told_and_may_stop_the_work(tmp_path):
    seen = []
    values = {i: b"x" for i in range(3000)}
    dolium.write_sharded(
        tmp_path / "set", SPEC, values, progress=lambda *numbers: seen.append(numbers)
    )
    assert seen[-1] == (3000, 3000, 3000)
    assert seen == sorted(seen)

    def refuse(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        dolium.write_sharded(tmp_path / "other", SPEC, values, progress=refuse)
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(tmp_path / "other", format="neuroglancer")
