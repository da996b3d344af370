"""The package shardpack: what the format's own document shows, and all that goes beyond."""

import hashlib
import io
import json
import pathlib

import numpy as np
import pytest

import shardpack
from pack_makers import TESTDATA, number_of, write_set

JPEG = b"\xff\xd8LEFT\xff\xd9"


@pytest.fixture
def stereo(tmp_path, monkeypatch):
    """The sample of the document's walkthrough, and enough others to have a 123rd."""
    monkeypatch.chdir(tmp_path)
    with shardpack.Writer("dataset-train-000000.shardpack", compression="lz4") as writer:
        for number in range(200):
            writer.write(
                f"images17/image{number}",
                {"left.jpg": JPEG, "right.jpg": JPEG, "meta.json": b'{"stereo": true}'},
            )


def decode_jpeg(data):
    assert isinstance(data, bytes)
    return data


def test_the_reading_example_of_the_document(stereo):
    found = []

    dataset = shardpack.open("dataset-train-000000.shardpack")
    for record in dataset.records():
        for entry in record.file_entries():
            if entry.content_type == "image/jpeg":
                image = decode_jpeg(entry.data)
            elif entry.content_type == "application/json":
                annotation = json.loads(entry.data)
        # do something with image, annotation ...
        found.append((image, annotation))

    assert found == [(JPEG, {"stereo": True})] * 200


def test_the_random_access_example_of_the_document(stereo, capsys):
    dataset = shardpack.open("dataset-train-000000.shardpack")

    # read index once
    index = dataset.get_index()
    random_record_offset = index[123]
    record = dataset.read_record_at_offset(random_record_offset)
    print(f"Record key: {record.key}")

    assert capsys.readouterr().out == "Record key: images17/image123\n"


def test_the_random_access_example_works_on_many_shards(tmp_path):
    write_set(tmp_path, 100, shard_records=30)
    dataset = shardpack.open(tmp_path / "train-{000000..000003}.shardpack")
    index = dataset.get_index()
    assert len(index) == 100
    assert index[30] == 0 and index[30].shard == 1
    keys = [dataset.read_record_at_offset(offset).key for offset in index]
    assert keys == dataset.keys()
    with pytest.raises(ValueError, match="no record begins at 3"):
        dataset.read_record_at_offset(3)


def test_samples_by_number_and_key(tmp_path):
    write_set(tmp_path)
    dataset = shardpack.open(tmp_path)
    assert len(dataset) == 100
    assert number_of(dataset[42]) == 42
    assert number_of(dataset[-1]) == 99
    assert number_of(dataset[np.int64(7)]) == 7
    assert [number_of(record) for record in dataset[[5, 1, 99]]] == [5, 1, 99]
    assert [number_of(record) for record in dataset[np.array([3, 2])]] == [3, 2]
    assert [number_of(record) for record in dataset[95:]] == [95, 96, 97, 98, 99]
    assert number_of(dataset.get("sample00061")) == 61
    assert dataset.find("sample00061") == 61
    assert dataset.get("sample") is None
    assert "sample00000" in dataset and "other" not in dataset
    assert dataset.keys(28, 32) == [f"sample000{number}" for number in range(28, 32)]
    for wrong in (100, -101):
        with pytest.raises(IndexError, match=f"sample {wrong} of a set of 100"):
            dataset[wrong]
    assert [number_of(record) for record in dataset] == list(range(100))


def test_entries_tell_what_they_are(tmp_path):
    path = tmp_path / "one.shardpack"
    text = b"many words " * 1000
    with shardpack.Writer(path, compression="zstd") as writer:
        writer.write(
            "key",
            {"a.txt": text, "b.jpg": JPEG},
            metadata={"split": "train"},
            content_types={"b.jpg": "image/x-private"},
            file_metadata={"a.txt": {"lang": "en"}, "b.jpg": b"\x00raw"},
        )
    record = shardpack.open(path)[0]
    assert record.metadata == {"split": "train"}
    assert len(record) == 2 and record.names() == ["a.txt", "b.jpg"]
    entry = record["a.txt"]
    assert (entry.name, entry.content_type, entry.codec) == ("a.txt", "text/plain", "zstd")
    assert entry.size == len(text) and entry.stored_size < 1000
    assert entry.data == text and bytes(entry.view()) == text
    assert entry.read(11, 4) == b"many"
    assert entry.metadata == {"lang": "en"}
    assert isinstance(entry.crc32c, int)
    other = record.get("b.jpg")
    assert (other.content_type, other.codec, other.metadata) == (
        "image/x-private",
        "none",
        b"\0raw",
    )
    assert record.get("c") is None and "c" not in record
    with pytest.raises(KeyError, match='"key": no entry "c"'):
        record["c"]
    assert record.as_dict() == {"a.txt": text, "b.jpg": JPEG}
    assert record.nbytes == len(text) + len(JPEG)
    assert entry.record.key == "key"
    assert record.shard == str(path) and record.number == 0 and record.offset == 0


def test_views_are_the_mapped_file(tmp_path):
    path = tmp_path / "one.shardpack"
    with shardpack.Writer(path, align=64) as writer:
        writer.write("key", {"x": b"plain", "y": bytes(range(256))})
    entry = shardpack.open(path)[0]["y"]
    view = entry.view()
    assert isinstance(view, memoryview) and view.readonly and bytes(view) == bytes(range(256))
    array = entry.numpy()
    assert array.dtype == np.uint8 and array.tolist() == list(range(256))
    assert array.ctypes.data % 64 == 0
    assert not array.flags.writeable
    with pytest.raises(TypeError):
        json.loads(view)  # which is why entry.data is bytes


def test_pickles_are_not_read(tmp_path):
    path = tmp_path / "evil.shardpack"
    npy = io.BytesIO()
    np.save(npy, np.array([{"a": 1}], object), allow_pickle=True)
    with shardpack.Writer(path) as writer:
        writer.write("key", {"a.npy": npy.getvalue()})
    entry = shardpack.open(path)[0]["a.npy"]
    for read in (entry.numpy, entry.decode):
        with pytest.raises(ValueError, match="[Oo]bject arrays|objects are not read"):
            read()


def test_decoders_by_content_type(tmp_path):
    msgpack = pytest.importorskip("msgpack")
    path = tmp_path / "types.shardpack"
    with shardpack.Writer(path) as writer:
        files = {
            "a.json": b'{"x": [1, 2]}',
            "b.msgpack": msgpack.packb({"y": 3}),
            "c.txt": "Grüße",
            "d.own": b"abc",
            "e.unknown": b"bytes",
        }
        writer.write("key", files, content_types={"d.own": "application/x-own; version=2"})
    record = shardpack.open(path)[0]
    shardpack.register_decoder("application/x-own", lambda data: data.upper())
    decoded = {entry.name: entry.decode() for entry in record.file_entries()}
    assert decoded == {
        "a.json": {"x": [1, 2]},
        "b.msgpack": {"y": 3},
        "c.txt": "Grüße",
        "d.own": b"ABC",
        "e.unknown": b"bytes",
    }


def test_writers_make_numbered_shards(tmp_path):
    reports = write_set(tmp_path, 100, shard_records=30, metadata={"creator": "MyName"})
    assert [pathlib.Path(report.path).name for report in reports] == [
        f"train-00000{number}.shardpack" for number in range(4)
    ]
    assert [report.records for report in reports] == [30, 30, 30, 10]
    dataset = shardpack.open(tmp_path)
    assert dataset.metadata == {"creator": "MyName"}
    assert [shard["records"] for shard in dataset.shards] == [30, 30, 30, 10]
    assert dataset.shards[3]["size"] == (tmp_path / "train-000003.shardpack").stat().st_size


def test_a_shard_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "one.shardpack"
    with pytest.raises(RuntimeError, match="stop"):
        with shardpack.Writer(path) as writer:
            writer.write("key", {"x": b"1"})
            raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []
    with shardpack.Writer(path) as writer:
        writer.write("key", {"x": b"1"})
    with pytest.raises(FileExistsError):
        with shardpack.Writer(path) as writer:
            writer.write("key", {"x": b"2"})
    with shardpack.Writer(path, force=True) as writer:
        writer.write("key", {"x": b"3"})
    assert shardpack.open(path)[0]["x"].data == b"3"
    with pytest.raises(ValueError, match="closed"):
        writer.write("key", {"x": b"4"})


def test_writers_refuse_names_that_lead_elsewhere(tmp_path):
    with shardpack.Writer(tmp_path / "one.shardpack") as writer:
        for name in ("/etc/passwd", "../up", "a/../../b", ""):
            with pytest.raises(ValueError):
                writer.write("key", {name: b""})
        with pytest.raises(ValueError):
            writer.write("key", [("same", b""), ("same", b"")])
        writer.write("key", {"a/b": b"fine"})


def test_reproducible_shards_do_not_depend_on_threads(tmp_path):
    def make(name, threads):
        path = tmp_path / name
        with shardpack.Writer(
            path, compression="zstd", reproducible=True, threads=threads
        ) as writer:
            for number in range(200):
                writer.write(f"{number}", {"text.txt": f"the number {number} " * 50})
        return hashlib.sha256(path.read_bytes()).hexdigest()

    assert make("a", 1) == make("b", 3)


def test_small_contents_share_a_dictionary(tmp_path):
    sizes = {}
    for dictionary in (0, 16 << 10):
        path = tmp_path / f"{dictionary}.shardpack"
        with shardpack.Writer(path, compression="zstd", dictionary=dictionary) as writer:
            for number in range(2000):
                meta = {"label": number % 10, "caption": f"a picture of {number}", "ok": True}
                writer.write(f"{number}", {"meta.json": json.dumps(meta)})
        dataset = shardpack.open(path)
        assert dataset[1234]["meta.json"].decode()["caption"] == "a picture of 1234"
        assert dataset[0].names() == ["meta.json"]
        sizes[dictionary] = sum(record["meta.json"].stored_size for record in dataset)
    assert sizes[16 << 10] < 0.7 * sizes[0]


GOOD = json.loads((TESTDATA / "good" / "expected.json").read_text())


# Of samples in parts, see test_shardpack_sets.py.
@pytest.mark.parametrize("name", [name for name in GOOD if name != "overlay.shardpack"])
@pytest.mark.parametrize("map", [True, False])
def test_shards_of_another_writer_read_as_they_should(name, map):
    expected = GOOD[name]
    dataset = shardpack.open(TESTDATA / "good" / name, map=map)
    assert len(dataset) == len(expected["records"])
    assert list(dataset.get_index()) == [record["offset"] for record in expected["records"]]
    for record, wanted in zip(dataset, expected["records"]):
        assert record.key == wanted["key"]
        assert record.is_tombstone == wanted["tombstone"]
        visible = [entry for entry in wanted["entries"] if not entry["aux"]]
        assert record.names() == [entry["name"] for entry in visible]
        for entry, told in zip(record.file_entries(), visible):
            assert entry.size == told["size"] and entry.stored_size == told["stored_size"]
            assert entry.content_type == (told["type"] or "application/octet-stream")
            assert f"{entry.crc32c:08x}" == told["crc32c"]
            assert hashlib.sha256(entry.data).hexdigest() == told["sha256"]
            assert hashlib.sha256(entry.view()).hexdigest() == told["sha256"]


def test_a_set_is_a_source_for_grain(tmp_path):
    """Grain asks for __len__, __getitem__ and a repr that does not change."""
    write_set(tmp_path, 20)
    dataset = shardpack.open(tmp_path)
    assert repr(dataset) == "<shardpack.Dataset of 20 samples in 1 shards>"
    assert [number_of(dataset[index]) for index in range(len(dataset))] == list(range(20))


def test_the_package_exports_what_it_lists():
    assert sorted(shardpack.__all__) == shardpack.__all__
    for name in shardpack.__all__:
        assert hasattr(shardpack, name)
