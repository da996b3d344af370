"""Chosen files of samples as tuples: one, several, all in order, as views, from any kind of set."""

import gc
import pickle

import numpy as np
import pytest

import shardpack
from conftest import flip_byte
from pack_makers import write_set
from range_server import RangeServer


@pytest.fixture
def dataset(tmp_path):
    write_set(tmp_path, 100, shard_records=30)
    return shardpack.open(tmp_path)


def expected(number):
    return (f"sample{number:05}", str(number).encode(), (f"text of {number}" * 5).encode())


NAMES = ("__key__", "number.json", "text.txt")


def test_one_by_number(dataset):
    tuples = dataset.tuples(*NAMES)
    assert len(tuples) == 100
    assert tuples.names == list(NAMES)
    assert tuples[0] == expected(0)
    assert tuples[-1] == expected(99)
    assert tuples[np.int64(61)] == expected(61)
    assert dataset.tuples("text.txt")[7] == (expected(7)[2],)
    assert dataset.tuples("text.txt", "__key__")[7] == (expected(7)[2], "sample00007")


def test_all_in_order(dataset):
    assert list(dataset.tuples(*NAMES)) == [expected(number) for number in range(100)]


@pytest.mark.parametrize(
    ("index", "numbers"),
    [
        ([3, 99, 3, 0], [3, 99, 3, 0]),
        (np.array([5, -1]), [5, 99]),
        (slice(10, 40, 7), range(10, 40, 7)),
        (slice(5, 2, -1), [5, 4, 3]),
        (range(100), range(100)),
        ([], []),
    ],
)
def test_several_are_lists_of_each_name(dataset, index, numbers):
    columns = dataset.tuples(*NAMES)[index]
    assert columns == tuple([expected(n)[place] for n in numbers] for place in range(3))


def test_batches_that_are_decoded_on_threads(tmp_path):
    contents = [bytes([number]) * (20_000 + number) for number in range(90)]
    for compression in ("none", "lz4"):
        with shardpack.Writer(tmp_path / f"{compression}.shardpack", compression=compression,
                              compress_all=True) as writer:
            for number, content in enumerate(contents):
                writer.write(str(number), {"a.bin": content, "b.bin": content[:100]})
        tuples = shardpack.open(tmp_path / f"{compression}.shardpack").tuples("b.bin", "a.bin")
        order = [*range(89, -1, -1), *range(90)]
        short, long = tuples[order]
        assert long == [contents[number] for number in order]
        assert short == [contents[number][:100] for number in order]


def test_anything_that_is_a_number_or_lists_numbers(dataset):
    class Index:
        def __index__(self):
            return 4

    tuples = dataset.tuples("__key__")
    assert tuples[np.array(4)] == tuples[Index()] == tuples[True + 3] == ("sample00004",)
    assert tuples[np.array([4])] == (["sample00004"],)
    assert tuples[iter([4, 5])] == (["sample00004", "sample00005"],)
    assert list(reversed(tuples))[0] == ("sample00099",)
    assert ("sample00050",) in tuples


def test_objects_that_were_not_constructed(dataset):
    tuples = dataset.tuples("__key__")
    with pytest.raises(TypeError):
        type(tuples).__new__(type(tuples))[0]
    iterator = type(iter(tuples))
    with pytest.raises(TypeError):
        next(iterator.__new__(iterator))
    with pytest.raises(TypeError):
        type("Sub", (type(tuples),), {})


def test_numbers_that_are_not_there(dataset):
    tuples = dataset.tuples("__key__")
    for wrong in (100, -101, 10**30):
        with pytest.raises(IndexError):
            tuples[wrong]
    with pytest.raises(IndexError):
        tuples[[0, 100]]
    with pytest.raises(TypeError):
        tuples["sample00003"]


def test_missing_files(tmp_path):
    with shardpack.Writer(tmp_path / "a.shardpack") as writer:
        writer.write("both", {"a": b"1", "b": b"2"})
        writer.write("one", {"a": b"3"})
    dataset = shardpack.open(tmp_path / "a.shardpack")
    tuples = dataset.tuples("a", "b")
    assert tuples[0] == (b"1", b"2")
    with pytest.raises(KeyError, match='a.shardpack: record 1: .*"one": no entry .*"b'):
        tuples[1]
    with pytest.raises(KeyError, match='"one": no entry "b"'):
        tuples[[0, 1]]
    with pytest.raises(KeyError):
        list(tuples)
    assert dataset.tuples("a", "b", missing="none")[[0, 1]] == ([b"1", b"3"], [b"2", None])
    with pytest.raises(ValueError, match="missing"):
        dataset.tuples("a", missing="no")
    with pytest.raises(ValueError, match="no files"):
        dataset.tuples()


def test_more_names_than_usual(tmp_path):
    files = {f"f{number}": bytes([number]) for number in range(40)}
    with shardpack.Writer(tmp_path / "a.shardpack") as writer:
        writer.write("x", files)
    tuples = shardpack.open(tmp_path / "a.shardpack").tuples(*files)
    assert tuples[0] == tuple(files.values())
    assert tuples[[0]] == tuple([value] for value in files.values())


@pytest.mark.parametrize("kind", ["mapped", "read", "joined"])
def test_views_outlive_everything(tmp_path, kind):
    with shardpack.Writer(tmp_path / "a.shardpack") as writer:
        for number in range(5):
            writer.write(str(number), {"a": bytes([number]) * 5000})
    with shardpack.Writer(tmp_path / "b.shardpack") as writer:
        for number in range(5):
            writer.write(str(number), {"b": b"b"})
    dataset = shardpack.open(tmp_path / "a.shardpack", map=kind != "read")
    if kind == "joined":
        dataset = shardpack.join([dataset, shardpack.open(tmp_path / "b.shardpack")])
    views = dataset.tuples("a", views=True)
    del dataset
    kept = [view for (view,) in views]
    del views
    gc.collect()
    assert [bytes(view) for view in kept] == [bytes([n]) * 5000 for n in range(5)]
    assert all(view.readonly for view in kept)


def test_views_of_compressed_files_are_decoded(tmp_path):
    with shardpack.Writer(tmp_path / "a.shardpack", compression="zstd") as writer:
        writer.write("x", {"a.txt": b"word " * 1000})
    (view,) = shardpack.open(tmp_path / "a.shardpack").tuples("a.txt", views=True)[0]
    assert bytes(view) == b"word " * 1000


@pytest.mark.parametrize("index", [3, [2, 3]])
def test_damage_is_told_with_its_place(tmp_path, index):
    path = tmp_path / "a.shardpack"
    with shardpack.Writer(path) as writer:
        for number in range(5):
            writer.write(f"k{number}", {"a": bytes(5000), "b": b"b"})
    offset = int(shardpack.open(path).get_index()[3])
    flip_byte(path, offset + 3000)
    dataset = shardpack.open(path)
    with pytest.raises(shardpack.CorruptError, match='record 3: "k3": entry "a"'):
        dataset.tuples("a")[index]
    # What is not asked for is not looked at.
    assert dataset.tuples("b")[3] == (b"b",)
    for check in ("headers", "heads"):
        assert shardpack.open(path, check=check).tuples("a")[3][0] != bytes(5000)


def test_sets_of_every_kind(tmp_path):
    for name in ("left", "right", "more"):
        (tmp_path / name).mkdir()
    write_set(tmp_path / "left", 50, shard_records=20)
    with shardpack.Writer(tmp_path / "right" / "a.shardpack") as writer:
        for number in range(50):
            writer.write(f"sample{number:05}", {"mask": bytes([number])})
    with shardpack.Writer(tmp_path / "more" / "a.shardpack") as writer:
        writer.write("sample00003", {"number.json": b"new"})
    left = shardpack.open(tmp_path / "left")
    joined = shardpack.join([left, shardpack.open(tmp_path / "right" / "a.shardpack")])
    laid = shardpack.overlay(left, shardpack.open(tmp_path / "more" / "a.shardpack"))
    assert joined.tuples("number.json", "mask")[[0, 49]] == ([b"0", b"49"], [b"\0", b"1"])
    assert joined.tuples("mask", "__key__")[7] == (b"\x07", "sample00007")
    assert laid.tuples("number.json", "text.txt")[3] == (b"new", expected(3)[2])
    unmapped = shardpack.open(tmp_path / "left", map=False)
    assert list(unmapped.tuples(*NAMES)) == [expected(number) for number in range(50)]
    assert unmapped.tuples(*NAMES)[[40, 2]][0] == ["sample00040", "sample00002"]


def test_remote_and_cached_sets(tmp_path):
    (tmp_path / "served").mkdir()
    write_set(tmp_path / "served", 50, shard_records=20)
    with RangeServer(tmp_path / "served") as server:
        url = server.url + "/train-{000000..000002}.shardpack"
        cached = shardpack.open(url, cache=tmp_path / "cache")
        for dataset in (shardpack.open(url), cached):
            tuples = dataset.tuples(*NAMES)
            assert len(tuples) == 50
            assert tuples[41] == expected(41)
            assert tuples[[1, 30]][0] == ["sample00001", "sample00030"]
            assert list(tuples)[49] == expected(49)
            with pytest.raises(KeyError):
                dataset.tuples("nothing")[0]
            assert dataset.tuples("nothing", missing="none")[[0, 1]] == ([None, None],)
            assert bytes(dataset.tuples("text.txt", views=True)[3][0]) == expected(3)[2]
            assert "50 samples" in repr(tuples)
        with pytest.raises(ValueError, match="no files"):
            cached.tuples()


def test_pickles_open_the_set_anew(dataset):
    tuples = dataset.tuples("__key__", "nothing", missing="none")
    again = pickle.loads(pickle.dumps(tuples))
    assert again[5] == ("sample00005", None)
    assert list(again) == list(tuples)
