import pickle

import numpy as np
import pytest
from conftest import SPEC, flip_byte, make_values

import dolium

ABSENT = 123


def test_gives_every_value(location, values):
    chunks = dolium.open(location)
    for key, value in values.items():
        assert chunks[key] == value
        assert chunks[str(key)] == value
        assert chunks.get(key) == value
    assert type(chunks[0]) is bytes


def test_takes_a_str_location_and_numpy_ids(location, values):
    chunks = dolium.open(str(location))
    key = next(iter(values))
    assert chunks[np.uint64(key)] == values[key]


def test_gives_chunks_larger_than_its_scratch(tmp_path):
    large = {1: bytes(range(256)) * 1024, 2: b"x" * 65536, 3: b"y" * 65537}
    for encoding in ("raw", "gzip"):
        spec = dolium.ShardingSpec(0, 0, 0, data_encoding=encoding)
        dolium.write_sharded(tmp_path / encoding, spec, large)
        chunks = dolium.open(tmp_path / encoding)
        assert {key: chunks[key] for key in large} == large
        assert chunks.get_many([3, 1, 2]) == [large[3], large[1], large[2]]


def test_an_absent_key_is_a_key_error(location):
    chunks = dolium.open(location)
    with pytest.raises(KeyError) as raised:
        chunks[ABSENT]
    assert raised.value.args == (ABSENT,)
    assert chunks.get(ABSENT) is None
    assert chunks.get(ABSENT, b"else") == b"else"
    assert ABSENT not in chunks
    assert chunks.find(ABSENT) is None
    with pytest.raises(KeyError):
        chunks.read(ABSENT)


@pytest.mark.parametrize("key", [-1, 1 << 64, "x", "-1", ""])
def test_a_key_that_is_no_id_is_a_value_error(location, key):
    chunks = dolium.open(location)
    for call in (chunks.__getitem__, chunks.__contains__, chunks.get, chunks.find):
        with pytest.raises(ValueError):
            call(key)
    with pytest.raises(ValueError):
        chunks.get_many([key])


@pytest.mark.parametrize("key", [1.5, None, b"1", (1,)])
def test_a_key_of_another_type_is_a_type_error(location, key):
    chunks = dolium.open(location)
    for call in (chunks.__getitem__, chunks.__contains__):
        with pytest.raises(TypeError):
            call(key)
    with pytest.raises(TypeError):
        chunks[key] = b""
    with pytest.raises(TypeError):
        del chunks[key]


def test_get_many_keeps_the_order(location, values):
    chunks = dolium.open(location)
    keys = [*values, ABSENT, *reversed(values)]
    wanted = [values.get(key) for key in keys]
    assert chunks.get_many(keys) == wanted
    assert chunks.get_many(tuple(keys)) == wanted
    assert chunks.get_many(key for key in keys) == wanted
    assert chunks.get_many(np.array(keys, dtype=np.uint64)) == wanted
    assert chunks.get_many(np.array(keys, dtype=np.uint64)[::2]) == wanted[::2]
    assert chunks.get_many([]) == []


def test_get_many_takes_arrays_of_other_integers(location, values):
    chunks = dolium.open(location)
    assert chunks.get_many(np.array([0, ABSENT], dtype=np.int32)) == [b"", None]
    assert chunks.get_many(np.array([0, ABSENT], dtype=np.int64)) == [b"", None]
    with pytest.raises(ValueError, match="-1 is no chunk id"):
        chunks.get_many(np.array([0, -1], dtype=np.int64))
    with pytest.raises(TypeError):
        chunks.get_many("12")
    with pytest.raises(TypeError):
        chunks.get_many(5)


def test_iteration_gives_every_key_once(location, values):
    chunks = dolium.open(location)
    keys = list(chunks)
    assert len(keys) == len(values)
    assert set(keys) == set(values)
    assert list(chunks.keys()) == keys
    items = list(chunks.items())
    assert [key for key, _ in items] == keys
    assert dict(items) == values
    assert dict(chunks) == values
    assert len(chunks) == len(values)
    assert chunks


def test_iteration_spans_many_batches(tmp_path):
    values = {i: i.to_bytes(8, "little") for i in range(10_000)}
    dolium.write_sharded(tmp_path / "set", SPEC, values)
    chunks = dolium.open(tmp_path / "set")
    assert dict(chunks.items()) == values
    items = chunks.items()
    first = next(items)
    assert values[first[0]] == first[1]
    del items  # Ends the scan ahead.
    ended = chunks.keys()
    assert sum(1 for _ in ended) == 10_000
    with pytest.raises(StopIteration):
        next(ended)


def test_an_empty_set_is_false(tmp_path):
    dolium.write_sharded(tmp_path / "set", SPEC, {})
    chunks = dolium.open(tmp_path / "set")
    assert not chunks
    assert len(chunks) == 0
    assert list(chunks.items()) == []


def test_find_tells_where_an_entry_lies(location, values):
    chunks = dolium.open(location)
    key = max(values, key=lambda k: len(values[k]))
    entry = chunks.find(key)
    assert isinstance(entry, dolium.Entry)
    assert entry.key == key
    shard = chunks.sharding.shard_name(chunks.sharding.place(key)[0])
    assert entry.object.endswith("/" + shard)
    assert entry.preceding == 0
    with open(location / shard, "rb") as file:
        file.seek(entry.offset)
        stored = file.read(entry.stored_size)
    assert chunks.read(key, raw=True) == stored
    if chunks.sharding.data_encoding == "raw":
        assert entry.size == len(values[key])
        assert stored == values[key]
    else:
        assert entry.size is None
        assert stored[:2] == b"\x1f\x8b"


def test_read_gives_the_preceding_bytes(tmp_path):
    # A manifest of one level of detail with one fragment of 5 bytes: chunk shape, grid origin,
    # number of levels, scale, vertex offset, number of fragments, position, size.
    manifest = np.concatenate(
        [
            np.zeros(6, "<f4").view("u1"),
            np.array([1], "<u4").view("u1"),
            np.array([1], "<f4").view("u1"),
            np.zeros(3, "<f4").view("u1"),
            np.array([1], "<u4").view("u1"),
            np.zeros(3, "<u4").view("u1"),
            np.array([5], "<u4").view("u1"),
        ]
    )
    info = {"@type": "neuroglancer_multilod_draco"}
    items = [(9, manifest, b"12345"), (10, manifest, b"67890")]
    dolium.write_sharded(tmp_path / "mesh", SPEC, items, info=info)
    meshes = dolium.open(tmp_path / "mesh")
    assert meshes.info["contents"] == "multi-resolution meshes"
    assert meshes[9] == manifest.tobytes()
    assert meshes.read(9, preceding=True) == (manifest.tobytes(), b"12345")
    assert meshes.find(10).preceding == 5
    assert dict(meshes.items()) == {9: manifest.tobytes(), 10: manifest.tobytes()}
    meshes.put(9, manifest, preceding=b"abcde")
    assert meshes.read(9, preceding=True) == (manifest.tobytes(), b"abcde")
    assert meshes.read(10, preceding=True) == (manifest.tobytes(), b"67890")
    with pytest.raises(ValueError):
        meshes.put(9, manifest, preceding=b"four")


def test_changes_are_seen_by_all(location, values):
    chunks = dolium.open(location)
    other = dolium.open(location)
    key = next(iter(values))
    assert other[key] == values[key]
    assert ABSENT not in other

    chunks[key] = b"new"
    chunks.put(ABSENT, bytearray(b"more"))
    assert (chunks[key], other[key]) == (b"new", b"new")
    assert (chunks[ABSENT], other[ABSENT]) == (b"more", b"more")

    del chunks[key]
    assert key not in chunks
    assert key not in other
    with pytest.raises(KeyError):
        other[key]
    expected = {**values, ABSENT: b"more"}
    del expected[key]
    assert dict(other.items()) == expected


def test_update_and_remove_take_many(location, values):
    chunks = dolium.open(location)
    new = make_values(50, seed=1)
    chunks.update(new)
    assert dict(chunks.items()) == {**values, **new}
    chunks.update([(1, b"one"), (np.uint64(2), np.arange(4, dtype=np.uint8))])
    assert chunks.get_many([1, 2]) == [b"one", b"\0\1\2\3"]
    chunks.remove([1, 2])
    chunks.remove(new)
    chunks.update({})
    assert dict(chunks.items()) == {k: v for k, v in values.items() if k not in new}


def test_removing_an_absent_key_changes_nothing(location, values):
    chunks = dolium.open(location)
    key = next(iter(values))
    with pytest.raises(KeyError):
        chunks.remove([key, ABSENT])
    with pytest.raises(KeyError):
        del chunks[ABSENT]
    with pytest.raises(KeyError):
        chunks.remove(ABSENT)
    assert chunks[key] == values[key]


def test_values_that_are_no_bytes_are_a_type_error(location):
    chunks = dolium.open(location)
    with pytest.raises(TypeError):
        chunks[1] = "text"
    with pytest.raises(TypeError):
        chunks.update({1: 2})
    with pytest.raises(ValueError):
        chunks.update([(1, b"", b"")])
    assert 1 not in chunks


def test_tells_about_itself(location):
    chunks = dolium.open(location)
    assert chunks.format == "neuroglancer"
    assert chunks.location == str(location)
    assert isinstance(chunks.sharding, dolium.ShardingSpec)
    assert chunks.info["shard_bits"] == 2
    assert repr(chunks) == f"<dolium.Container '{location}', format 'neuroglancer'>"


def test_opens_one_shard(location, values):
    spec = dolium.open(location).sharding
    shard = spec.place(0)[0]
    one = dolium.open(location / spec.shard_name(shard))
    inside = {k: v for k, v in values.items() if spec.place(k)[0] == shard}
    assert 0 < len(inside) < len(values)
    assert dict(one.items()) == inside
    assert one[0] == b""
    outside = next(k for k in values if k not in inside)
    assert outside not in one
    assert one.get_many([0, outside]) == [b"", None]


@pytest.mark.parametrize("form", ["spec", "dict", "json", "file", "file name"])
def test_takes_a_spec_in_every_form(location, values, tmp_path, form):
    spec = dolium.open(location).sharding
    (location / "info").unlink()
    with pytest.raises(FileNotFoundError, match="give the spec with spec="):
        dolium.open(location, format="neuroglancer")
    path = tmp_path / "spec.json"
    path.write_text(spec.to_json())
    forms = {
        "spec": spec,
        "dict": spec.to_dict(),
        "json": spec.to_json(),
        "file": path,
        "file name": str(path),
    }
    chunks = dolium.open(location, sharding=forms[form])
    assert chunks.sharding == spec
    assert dict(chunks.items()) == values


def test_refuses_a_spec_that_is_none(location, tmp_path):
    with pytest.raises(TypeError):
        dolium.open(location, sharding=5)
    with pytest.raises(ValueError):
        dolium.open(location, sharding={"no": "spec"})
    with pytest.raises(FileNotFoundError):
        dolium.open(location, sharding=tmp_path / "absent.json")


def test_errors_name_the_location(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        dolium.open(tmp_path / "absent")
    with pytest.raises(ValueError, match="no format"):
        dolium.open(tmp_path, format="zip")
    with pytest.raises(TypeError):
        dolium.open(5)


def test_pickles_as_a_way_to_open_it_again(location, values):
    chunks = pickle.loads(pickle.dumps(dolium.open(location, cache_bytes=1 << 20)))
    assert dict(chunks.items()) == values


def test_reads_a_plain_folder(folder):
    files = dolium.open(folder, format="files")
    assert files.format == "files"
    assert files.sharding is None
    assert sorted(files) == ["17", "a", "b.bin"]
    assert files["a"] == b"aaa"
    assert files[17] == b"171717"
    assert files.get_many(["b.bin", "no", "a"]) == [b"b.bin" * 3, None, b"aaa"]
    assert dict(files.items())["17"] == b"171717"
    assert "no" not in files
    with pytest.raises(KeyError, match="no"):
        files["no"]
    with pytest.raises(ValueError):
        files["../a"]
    files["new"] = b"1"
    assert (folder / "new").read_bytes() == b"1"
    del files["a"]
    assert not (folder / "a").exists()
    entry = files.find("new")
    assert (entry.key, entry.size, entry.stored_size, entry.offset) == ("new", 1, 1, 0)


def test_verify_finds_nothing_wrong(location, values):
    chunks = dolium.open(location)
    seen = []
    report = chunks.verify(progress=lambda *numbers: seen.append(numbers))
    assert report.ok
    assert (report.entries, report.entries_read) == (len(values), len(values))
    assert report.bytes_decoded == sum(map(len, values.values()))
    assert report.findings == []
    assert seen
    assert all(len(numbers) == 3 for numbers in seen)
    assert chunks.verify(quick=True, jobs=1).entries_read == 0
    sampled = chunks.verify(sample=0.2, seed=5).entries_read
    assert 0 < sampled < len(values)
    assert chunks.verify(sample=0.2, seed=5).entries_read == sampled
    with pytest.raises(ValueError):
        chunks.verify(sample=2.0)


def test_verify_reports_damage_and_reads_raise_it(tmp_path):
    spec = dolium.ShardingSpec(0, 2, 0, data_encoding="gzip")
    values = {i: bytes([i]) * 300 for i in range(20)}
    dolium.write_sharded(tmp_path / "set", spec, values)
    chunks = dolium.open(tmp_path / "set")
    entry = chunks.find(7)
    flip_byte(tmp_path / "set" / "0.shard", entry.offset + entry.stored_size - 6)

    chunks = dolium.open(tmp_path / "set")
    report = chunks.verify()
    assert not report.ok
    assert report.errors == 1
    (finding,) = report.findings
    assert (finding.severity, finding.key) == ("error", "7")
    assert finding.object.endswith("0.shard")
    assert finding.range == (entry.offset, entry.offset + entry.stored_size)
    for call in (
        lambda: chunks[7],
        lambda: chunks.get_many([6, 7]),
        lambda: chunks.read(7),
        lambda: list(chunks.items()),
    ):
        with pytest.raises(dolium.CorruptError, match="0.shard.*7"):
            call()
    assert chunks[6] == values[6]
    assert chunks.read(7, raw=True)[:2] == b"\x1f\x8b"


def test_a_cut_shard_is_corrupt(tmp_path):
    dolium.write_sharded(tmp_path / "set", dolium.ShardingSpec(0, 0, 0), {1: b"x" * 100})
    shard = tmp_path / "set" / "0.shard"
    shard.write_bytes(shard.read_bytes()[:20])
    chunks = dolium.open(tmp_path / "set")
    with pytest.raises(dolium.CorruptError):
        chunks[1]
    with pytest.raises(dolium.Error):
        list(chunks)


def test_stats_count(location, values):
    stats = dolium.open(location).stats(jobs=1)
    assert stats.objects == 4
    assert stats.stored_size.count == len(values)
    assert stats.entries_per_object.sum == len(values)
    assert stats.overhead_bytes > 0
    assert stats.damaged == 0
    assert stats.stored_size.min <= stats.stored_size.mean <= stats.stored_size.max
