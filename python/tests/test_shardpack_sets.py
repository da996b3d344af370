"""Several shards as one: columns, overlays, parts, references; and streams."""

import json
import os
import pickle
import subprocess
import sys
import threading

import pytest

import shardpack
from pack_makers import TESTDATA, number_of, numbers_in, write_set


def write_column(folder, name, values, shard_records=0, **options):
    """A set in which the file `name` of each key is a value."""
    folder.mkdir(exist_ok=True)
    with shardpack.Writer(
        folder / "col-000000.shardpack", shard_records=shard_records, **options
    ) as writer:
        for key, value in values.items():
            if value is None:
                writer.delete(key)
            else:
                writer.write(key, {name: value})
    return shardpack.open(folder)


@pytest.fixture
def images(tmp_path):
    return write_column(
        tmp_path / "images", "left.jpg", {f"k{n}": f"left {n}".encode() for n in range(10)}
    )


def test_columns_with_the_same_keys_are_joined_by_position(tmp_path, images):
    labels = write_column(
        tmp_path / "labels", "label.json", {f"k{n}": json.dumps(n) for n in range(10)}
    )
    joined = shardpack.join([images, labels])
    assert len(joined) == 10
    assert joined[7].as_dict() == {"left.jpg": b"left 7", "label.json": b"7"}
    assert joined.get("k3")["label.json"].decode() == 3
    again = pickle.loads(pickle.dumps(joined))
    assert again[2].as_dict() == joined[2].as_dict()
    labels_of = [[r["label.json"].decode() for r in batch] for batch in joined.loader(4)]
    assert labels_of == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_columns_in_another_order_are_joined_by_key(tmp_path, images):
    order = [3, 1, 4, 5, 9, 2, 6, 8, 7, 0]
    labels = write_column(
        tmp_path / "labels", "label.json", {f"k{n}": json.dumps(n) for n in order}, shard_records=4
    )
    joined = shardpack.join([images, labels])
    for record in joined:
        assert record["left.jpg"].data == f"left {record['label.json'].decode()}".encode()


def test_columns_that_lack_keys(tmp_path, images):
    labels = write_column(tmp_path / "labels", "label.json", {f"k{n}": b"1" for n in range(7)})
    with pytest.raises(KeyError, match="k[789]"):
        list(shardpack.join([images, labels]))
    skipped = shardpack.join([images, labels], nonmatch="skip")
    assert skipped.keys() == [f"k{n}" for n in range(7)]
    kept = shardpack.join([images, labels], nonmatch="none")
    assert len(kept) == 10 and kept[9].names() == ["left.jpg"] and len(kept[0]) == 2


def test_overlaid_columns_are_joined_by_key(tmp_path, images):
    labels = write_column(tmp_path / "labels", "label.json", {f"k{n}": str(n) for n in range(10)})
    (tmp_path / "fixes").mkdir()
    with shardpack.Writer(tmp_path / "fixes" / "a.shardpack") as writer:
        writer.delete("k3")
        writer.write("knew", {"left.jpg": b"left new"})
    changed = shardpack.overlay(images, shardpack.open(tmp_path / "fixes" / "a.shardpack"))
    assert len(changed) == 10  # as many as there were, but others
    joined = shardpack.join([changed, labels], nonmatch="none")
    found = {record.key: record.as_dict().get("label.json") for record in joined}
    assert found == {**{f"k{n}": str(n).encode() for n in range(10) if n != 3}, "knew": None}

    (tmp_path / "more").mkdir()
    with shardpack.Writer(tmp_path / "more" / "a.shardpack") as writer:
        writer.delete("k5")
    fewer = shardpack.overlay(labels, shardpack.open(tmp_path / "more" / "a.shardpack"))
    both = shardpack.join([changed, fewer], nonmatch="skip")
    assert both.keys() == [f"k{n}" for n in range(10) if n not in (3, 5)]
    assert [record["label.json"].data for record in both] == [
        str(n).encode() for n in range(10) if n not in (3, 5)
    ]


def test_columns_with_the_same_file_contradict(tmp_path, images):
    other = write_column(tmp_path / "other", "left.jpg", {f"k{n}": b"x" for n in range(10)})
    with pytest.raises(ValueError, match="left.jpg"):
        shardpack.join([images, other])[0]


def test_overlays_replace_add_and_remove(tmp_path, images):
    first = write_column(
        tmp_path / "first", "left.jpg", {"k1": b"new 1", "k2": None, "fresh": b"added"}
    )
    second = write_column(tmp_path / "second", "note.txt", {"k1": b"a note", "k9": b"last"})
    laid = shardpack.overlay(images, first, second)
    assert len(laid) == 10
    assert laid.keys() == ["k0", "k1", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "fresh"]
    assert laid.get("k1").as_dict() == {"left.jpg": b"new 1", "note.txt": b"a note"}
    assert laid.get("k2") is None
    assert laid.get("k9").as_dict() == {"left.jpg": b"left 9", "note.txt": b"last"}
    assert laid.get("fresh")["left.jpg"].data == b"added"
    assert images.get("k2")["left.jpg"].data == b"left 2"
    keys = sorted(record.key for batch in laid.loader(3, shuffle=True) for record in batch)
    assert keys == sorted(laid.keys())
    # Base and layers stay what they are; tombstones can be seen there.
    assert [record.key for record in first if record.is_tombstone] == ["k2"]


def test_large_samples_are_split_and_joined_again(tmp_path):
    path = tmp_path / "parts.shardpack"
    files = {f"{n}.bin": bytes([n]) * 3000 for n in range(5)}
    options = {"record_size_limit": 7000}
    with pytest.raises(ValueError, match="large|limit"):
        with shardpack.Writer(path, **options) as writer:
            writer.write("large", files)
    with shardpack.Writer(path, **options, oversize="split", force=True) as writer:
        writer.write("small", {"x": b"1"})
        writer.write("large", files)
        writer.write("last", {"x": b"2"})
    dataset = shardpack.open(path)
    assert len(dataset) == 3
    assert dataset[1].as_dict() == files
    assert dataset.get("large").names() == list(files)
    assert dataset.keys() == ["small", "large", "last"]
    assert streamed(path) == [(record.key, record.as_dict()) for record in dataset]
    assert [record.number for record in shardpack.stream(path)] == [0, 1, 4]
    parts = [dataset.read_record_at_offset(offset) for offset in dataset.get_index()]
    assert [record.key for record in parts] == ["small", *["large"] * 3, "last"]
    with shardpack.Writer(path, **options, oversize="skip", force=True) as writer:
        writer.write("large", files)
        writer.write("last", {"x": b"2"})
    assert shardpack.open(path).keys() == ["last"]


def test_a_file_larger_than_a_record_is_cut_and_whole_again(tmp_path):
    path = tmp_path / "giant.shardpack"
    giant = bytes(range(251)) * 400
    files = {"a": b"1", "giant.bin": giant, "z": b"2"}
    options = {"record_size_limit": 7000, "oversize": "split"}
    with shardpack.Writer(path, **options) as writer:
        writer.write("first", {"x": b"1"})
        writer.write("giant", files, metadata={"n": 1})
    assert not shardpack.verify(path).findings
    dataset = shardpack.open(path)
    record = dataset.get("giant")
    assert record.names() == list(files)
    assert record.as_dict() == files
    entry = record["giant.bin"]
    assert (entry.size, entry.data, bytes(entry.view())) == (len(giant), giant, giant)
    assert entry.read(6900, 20_000) == giant[6900:26_900]
    assert entry.crc32c is None
    with pytest.raises(ValueError, match="end past its"):
        entry.read(len(giant), 1)
    assert [row for row in dataset.tuples("giant.bin", missing="none")] == [(None,), (giant,)]
    assert streamed(path) == [("first", {"x": b"1"}), ("giant", files)]
    # One of its records alone is refused: it is not the file.
    part = dataset.read_record_at_offset(dataset.get_index()[3])
    with pytest.raises(shardpack.RecordCorruptError, match="are here alone"):
        part["giant.bin"].data
    shardpack.plan_reshard(str(path), str(tmp_path / "again-000000.shardpack"), shard_records=100).run()
    assert shardpack.open(tmp_path / "again-000000.shardpack").get("giant").as_dict() == files


def test_references_of_every_kind(tmp_path, monkeypatch):
    write_set(tmp_path, 100, shard_records=30)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("# all of them\ntrain-{000000..000003}.shardpack\n")
    for reference in (
        "train-{000000..000003}.shardpack",
        "train-00000{0,1,2,3}.shardpack",
        "train-*.shardpack",
        ".",
        "list.txt",
        "@list.txt",
        tmp_path,
        [f"train-00000{n}.shardpack" for n in range(4)],
        ["train-{000000..000001}.shardpack", tmp_path / "train-{000002..000003}.shardpack"],
    ):
        assert numbers_in([shardpack.open(reference)]) == list(range(100)), reference
    assert len(shardpack.open("train-{000000..000002..2}.shardpack")) == 60
    with pytest.raises(FileNotFoundError, match="train-000004"):
        shardpack.open("train-{000000..000004}.shardpack")


# --- streams


def streamed(source):
    return [(record.key, record.as_dict()) for record in shardpack.stream(source)]


def test_a_stream_gives_what_random_access_gives(tmp_path):
    write_set(tmp_path, 30, compression="zstd")
    path = tmp_path / "train-000000.shardpack"
    expected = [(record.key, record.as_dict()) for record in shardpack.open(path)]
    assert streamed(path) == expected
    with open(path, "rb") as file:
        assert streamed(file) == expected
    # A file that nobody else holds is not closed meanwhile.
    unheld = shardpack.stream(open(path, "rb"))
    assert [(record.key, record.as_dict()) for record in unheld] == expected
    record = next(iter(shardpack.stream(path)))
    assert record.number == 0 and not record.is_tombstone
    assert [entry.content_type for entry in record.file_entries()] == [
        "application/json",
        "text/plain",
    ]


def feed(data):
    """The reading end of a pipe that gives these bytes, a few at a time."""
    reader, writer = os.pipe()

    def write():
        with open(writer, "wb", buffering=0) as file:
            for begin in range(0, len(data), 1000):
                file.write(data[begin : begin + 1000])

    thread = threading.Thread(target=write)
    thread.start()
    return reader, thread


def stream_from_pipe(data):
    reader, thread = feed(data)
    found, error = [], None
    try:
        for record in shardpack.stream(reader):
            found.append(record.key)
    except shardpack.CorruptError as raised:
        error = raised
    os.close(reader)
    thread.join()
    return found, error


def test_a_pipe_that_ends_too_early_is_noticed(tmp_path):
    write_set(tmp_path, 30)
    path = tmp_path / "train-000000.shardpack"
    data = path.read_bytes()
    dataset = shardpack.open(path)
    offsets = [*dataset.get_index(), dataset.shards[0]["index_offset"]]
    assert stream_from_pipe(data) == (dataset.keys(), None)
    for end in [*range(1, len(data), 397), len(data) - 1]:
        found, error = stream_from_pipe(data[:end])
        whole = sum(1 for offset in offsets[1:] if offset <= end)
        assert found == dataset.keys()[:whole]
        expected = shardpack.IncompleteError if end >= 16 else shardpack.CorruptError
        assert isinstance(error, expected), end
    found, error = stream_from_pipe(data + b"more")
    assert len(found) == 30 and isinstance(error, shardpack.TrailingDataError)


BAD = json.loads((TESTDATA / "bad" / "expected.json").read_text())


@pytest.mark.parametrize("name", [name for name in BAD if BAD[name]["row"].startswith("last 8")])
def test_streams_deliver_all_before_the_cut(name):
    found, error = stream_from_pipe((TESTDATA / "bad" / name).read_bytes())
    assert len(found) == BAD[name]["stream"]["records"]
    assert type(error).__name__ == BAD[name]["stream"]["verdict"] + "Error"


def test_standard_input(tmp_path):
    write_set(tmp_path, 5)
    code = "import shardpack; print(*(r.key for r in shardpack.stream('-')))"
    with open(tmp_path / "train-000000.shardpack", "rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=file, capture_output=True, text=True, check=True
        )
    assert done.stdout.split() == [f"sample0000{n}" for n in range(5)]


def test_a_set_may_be_read_twice_at_once(tmp_path):
    write_set(tmp_path, 20)
    dataset = shardpack.open(tmp_path)
    pairs = [(number_of(a), number_of(b)) for a, b in zip(dataset.records(), dataset.records())]
    assert pairs == [(n, n) for n in range(20)]
