"""Data sets that other libraries made import equal to the byte, and they read what is exported.

WebDataset, mosaicml-streaming, tfrecord and lmdb write and read here themselves; between them and
us are the verbs of `shardpack` and the module of that name.
"""

import gzip
import io
import json
import pathlib
import random
import tarfile

import lmdb
import numpy as np
import pytest
import shardpack
import webdataset
from pack_imports import COUNT, do_import, make_samples, pack, random_bytes, run_shardpack
from tfrecord import example_pb2
from tfrecord.reader import tfrecord_iterator
from tfrecord.writer import TFRecordWriter

@pytest.fixture(scope="module")
def samples():
    return make_samples()


def write_webdataset(path, samples):
    with webdataset.TarWriter(str(path), encoder=False) as writer:
        for key, files in samples.items():
            writer.write({"__key__": key, **files})


def read_webdataset(path):
    """As its users get it; keys repeat nowhere."""
    out = {}
    for sample in webdataset.WebDataset(str(path), shardshuffle=False):
        assert sample["__key__"] not in out
        out[sample["__key__"]] = {
            name: data for name, data in sample.items() if not name.startswith("__")
        }
    return out


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_webdataset_imports_equal_to_the_byte(tmp_path, samples, name):
    write_webdataset(tmp_path / name, samples)
    imported = do_import("webdataset", tmp_path / name, tmp_path)
    assert imported == read_webdataset(tmp_path / name) == samples
    assert list(imported) == list(samples)


def test_many_webdataset_shards_import_in_order(tmp_path, samples):
    pattern = str(tmp_path / "x-%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=7, encoder=False, verbose=0) as writer:
        for key, files in samples.items():
            writer.write({"__key__": key, **files})
    imported = do_import("webdataset", str(tmp_path / "x-{000000..000007}.tar"), tmp_path)
    assert imported == samples
    assert list(imported) == list(samples)


def write_tar(path, members, **options):
    with tarfile.open(path, "w", **options) as archive:
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_mean_what_they_mean_to_webdataset(tmp_path, form):
    deep = "d" * 90 + "/" + "e" * 60
    names = [
        "a.JPG",
        "a.seg.png",
        "__meta__/x.json",
        "__info__",
        "README",
        "./b.c/d.x",
        "x.y/README",
        ".hidden",
        "dir/.hidden",
        "a.b/.hidden",
        "a.again",
        f"{deep}.x",
    ]
    if form != tarfile.USTAR_FORMAT:
        names += ["k" * 250 + ".x", "n" * 120 + "/" + "m" * 130 + ".Y.Z"]
    members = [(name, name.encode() * 3) for name in names]
    write_tar(tmp_path / "a.tar", members, format=form)
    target = tmp_path / "a.shardpack"
    run_shardpack("import", "--from", "webdataset", tmp_path / "a.tar", target)
    expected = [
        (sample["__key__"], {n: d for n, d in sample.items() if not n.startswith("__")})
        for sample in webdataset.WebDataset(str(tmp_path / "a.tar"), shardshuffle=False)
    ]
    found = [
        (record.key, {entry.name: entry.data for entry in record.file_entries()})
        for record in shardpack.open(str(target)).records()
    ]
    assert found == expected


@pytest.mark.parametrize("name", ["out.tar", "out.tar.gz"])
def test_webdataset_reads_what_is_exported(tmp_path, samples, name):
    run_shardpack("export", "--to", "webdataset", pack(samples, tmp_path), tmp_path / name)
    assert read_webdataset(tmp_path / name) == samples
    with tarfile.open(tmp_path / name) as archive:
        assert all(member.mtime == 0 for member in archive)



def write_tfrecord(path, packed):
    writer = TFRecordWriter(str(path))
    for i in range(COUNT):
        writer.write(
            {
                "image": (packed[i], "byte"),
                "label": ([i, -i, 2**62], "int"),
                "box": ([i / 3, 1.0], "float"),
            }
        )
    writer.close()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_tfrecord_imports_equal_to_the_byte(tmp_path, packed):
    source = random.Random(6)
    images = [random_bytes(source, 4000) for _ in range(COUNT)]
    path = tmp_path / "a.tfrecord"
    write_tfrecord(path, images)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    imported = do_import("tfrecord", path, tmp_path)
    assert list(imported) == [f"{i:09}" for i in range(COUNT)]
    for i, files in enumerate(imported.values()):
        assert files == {
            "image": images[i],
            "label": np.array([i, -i, 2**62], "<i8").tobytes(),
            "box": np.array([i / 3, 1.0], "<f4").tobytes(),
        }


def test_tfrecord_reads_what_is_exported(tmp_path, samples):
    path = tmp_path / "out.tfrecord"
    run_shardpack("export", "--to", "tfrecord", pack(samples, tmp_path), path)
    examples = [example_pb2.Example.FromString(bytes(r)) for r in tfrecord_iterator(str(path))]
    read = [
        {name: feature.bytes_list.value[0] for name, feature in example.features.feature.items()}
        for example in examples
    ]
    assert read == [{"__key__": key.encode(), **samples[key]} for key in sorted(samples)]


def test_lmdb_imports_and_exports_equal_to_the_byte(tmp_path, samples):
    entries = {key.encode(): files["jpg"] for key, files in samples.items()}
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 28) as environment:
        with environment.begin(write=True) as transaction:
            for key, value in entries.items():
                transaction.put(key, value)
    (tmp_path / "db" / "lock.mdb").unlink()
    imported = do_import("lmdb", tmp_path / "db", tmp_path)
    assert imported == {
        key.decode(): {"data": value} for key, value in sorted(entries.items())
    }
    assert [path.name for path in pathlib.Path(tmp_path / "db").iterdir()] == ["data.mdb"]

    target = tmp_path / "out"
    run_shardpack("export", "--to", "lmdb", tmp_path / "lmdb.shardpack", target)
    with lmdb.open(str(target), readonly=True, lock=False) as environment:
        with environment.begin() as transaction:
            assert dict(transaction.cursor()) == entries


def test_jsonl_imports_equal_to_the_byte_and_comes_back(tmp_path):
    lines = [json.dumps({"id": i, "text": "ü" * i}, ensure_ascii=i % 2 == 0) for i in range(COUNT)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    imported = do_import("jsonl", path, tmp_path)
    assert imported == {str(i): {"json": line.encode()} for i, line in enumerate(lines)}
    run_shardpack("export", "--to", "jsonl", tmp_path / "jsonl.shardpack", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["webdataset", "mds", "tfrecord", "jsonl", "folder"])
def test_what_is_exported_is_imported_again(tmp_path, samples, kind):
    packed = pack(samples, tmp_path)
    suffix = {"webdataset": ".tar", "tfrecord": ".tfrecord", "jsonl": ".jsonl"}.get(kind, "")
    run_shardpack("export", "--to", kind, packed, tmp_path / f"out{suffix}")
    assert do_import(kind, tmp_path / f"out{suffix}", tmp_path) == samples
