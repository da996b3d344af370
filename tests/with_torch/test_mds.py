"""mosaicml-streaming, which needs torch: its sets import decoded, and it reads what is
exported."""

import random

import numpy as np
import pytest
import shardpack
import streaming_alone  # noqa: F401, before streaming
import streaming
from pack_imports import COUNT, do_import, make_samples, pack, random_bytes, run_shardpack
from PIL import Image


@pytest.fixture(scope="module")
def samples():
    return make_samples()


COLUMNS = {
    "blob": "bytes",
    "fixed": "ndarray:int16:2,3",
    "image": "pil",
    "label": "int",
    "meta": "json",
    "row": "ndarray",
    "score": "float32",
    "text": "str",
    "wide": "ndarray:float64",
}


def mds_rows():
    source = random.Random(5)
    for i in range(COUNT):
        yield {
            "blob": random_bytes(source, 3000),
            "fixed": np.arange(6, dtype=np.int16).reshape(2, 3) * i,
            "image": Image.fromarray(np.full((3, i + 1, 3), i, np.uint8)),
            "label": i - 25,
            "meta": {"i": i, "list": [None, 1.5, "x"]},
            "row": np.arange(i + 1, dtype=np.uint8),
            "score": np.float32(i / 3),
            "text": "tüt" * i,
            "wide": np.ones((1, i + 1)),
        }


def write_mds(folder, **options):
    with streaming.MDSWriter(out=str(folder), columns=COLUMNS, **options) as writer:
        for row in mds_rows():
            writer.write(row)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size_limit": 20_000},
        {"compression": "zstd:3", "hashes": ["sha1", "xxh64"]},
        {"compression": "gz", "size_limit": 20_000, "hashes": ["xxh64"]},
    ],
    ids=["one shard", "many shards", "zstd", "gz"],
)
def test_mds_imports_decoded(tmp_path, options):
    write_mds(tmp_path / "mds", **options)
    imported = do_import("mds", tmp_path / "mds", tmp_path)
    assert list(imported) == [f"{i:09}" for i in range(COUNT)]
    for row, record in zip(mds_rows(), shardpack.open(tmp_path / "mds.shardpack"), strict=True):
        assert {entry.name for entry in record.file_entries()} == set(row)
        for name, value in row.items():
            found = record[name].decode()
            assert np.array_equal(found, value), name
            if hasattr(value, "dtype"):
                assert (found.dtype, found.shape) == (value.dtype, value.shape), name
        assert record["image"].metadata == {"pil_mode": "RGB"}


@pytest.mark.parametrize("mode", ["L", "P", "1", "I;16", "LA", "RGBA"])
def test_images_decode_to_what_pillow_gives(tmp_path, mode):
    """Those of a palette to indexes, those of bits to booleans."""
    noise = np.random.default_rng(1).integers(0, 256, (5, 11, 3), np.uint8)
    if mode == "I;16":
        image = Image.fromarray(noise[..., 0].astype(np.uint16) * 257)
    else:
        image = Image.fromarray(noise).convert(mode)
    assert image.mode == mode
    with streaming.MDSWriter(out=str(tmp_path / "mds"), columns={"image": "pil"}) as writer:
        writer.write({"image": image})
    do_import("mds", tmp_path / "mds", tmp_path)
    entry = shardpack.open(tmp_path / "mds.shardpack")[0]["image"]
    expected = np.asarray(image)
    assert (entry.decode().dtype, entry.decode().shape) == (expected.dtype, expected.shape)
    assert np.array_equal(entry.decode(), expected)
    assert entry.metadata == {"pil_mode": mode}


@pytest.mark.parametrize("kind", ["folder", "webdataset", "tfrecord", "mds", "jsonl", "lmdb"])
def test_no_export_drops_types_and_shapes(tmp_path, kind):
    write_mds(tmp_path / "mds")
    run_shardpack("import", "--from", "mds", tmp_path / "mds", tmp_path / "in.shardpack")
    options = ["--group-by", "dir"] if kind == "lmdb" else []
    run_shardpack("export", "--to", kind, tmp_path / "in.shardpack", tmp_path / "out")
    do_import(kind, tmp_path / "out", tmp_path, *options)
    for row, record in zip(mds_rows(), shardpack.open(tmp_path / f"{kind}.shardpack"), strict=True):
        for name in ("fixed", "image", "label", "row", "score", "wide"):
            found, value = record[name].decode(), np.asarray(row[name])
            assert (found.dtype, found.shape) == (value.dtype, value.shape), name
            assert np.array_equal(found, value), name


def test_streaming_reads_what_is_exported(tmp_path, samples):
    run_shardpack("export", "--to", "mds", pack(samples, tmp_path), tmp_path / "mds")
    read = streaming.LocalDataset(str(tmp_path / "mds"))
    assert len(read) == COUNT
    for i, key in enumerate(sorted(samples)):
        shard, index = read.spanner[i]
        shard_reader = read.shards[shard]
        assert dict(zip(shard_reader.column_names, shard_reader.column_encodings, strict=True)) == {
            "__key__": "str",
            "cls": "str",
            "jpg": "jpeg",
            "json": "json",
            "seg.png": "png",
        }
        raw = shard_reader.get_sample_data(index)
        assert _columns(shard_reader, raw) == {"__key__": key.encode(), **samples[key]}


def _columns(reader, raw):
    """The bytes of a sample's columns, none of which has a fixed size."""
    count = len(reader.column_names)
    sizes = np.frombuffer(raw[: 4 * count], np.uint32)
    ends = 4 * count + np.cumsum(sizes)
    return {
        name: raw[end - size : end]
        for name, size, end in zip(reader.column_names, sizes, ends, strict=True)
    }
