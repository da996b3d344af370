"""Parquet in and out."""

import datetime
import decimal
import io

import numpy as np
import pytest

import shardpack
from pack_makers import TESTDATA

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
parquet = pytest.importorskip("shardpack.parquet")


@pytest.fixture
def table():
    when = datetime.datetime(2024, 1, 2, 3, 4, 5)
    return pa.table(
        {
            "id": ["a", "b", "c"],
            "blob": [b"\xff\xd8", None, b"x"],
            "count": [1, 2, None],
            "vector": [[1.5], [], [2.0, 3.0]],
            "when": [when, None, when],
            "price": [decimal.Decimal("1.50"), decimal.Decimal("2.25"), None],
            "image": [{"bytes": b"jj", "path": "x.jpg"}, None, {"bytes": b"q", "path": None}],
        }
    )


def test_rows_become_samples(tmp_path, table):
    pq.write_table(table, tmp_path / "t.parquet")
    reports = parquet.import_parquet(
        tmp_path / "t.parquet", tmp_path / "o.shardpack", key_column="id", compression="zstd"
    )
    assert [report.records for report in reports] == [3]
    dataset = shardpack.open(tmp_path / "o.shardpack")
    assert dataset.keys() == ["a", "b", "c"]
    assert dataset[0]["blob"].data == b"\xff\xd8" and "blob" not in dataset[1]
    assert dataset[0]["image.jpg"].content_type == "image/jpeg"
    assert dataset[0]["id"].decode() == "a"
    assert dataset[1]["row.json"].decode() == {"count": 2, "vector": [], "price": "2.25"}


def test_there_and_back(tmp_path, table):
    for part in range(2):
        pq.write_table(table, tmp_path / f"{part}.parquet")
    parquet.import_parquet(tmp_path, tmp_path / "o-000000.shardpack", shard_records=4)
    count = parquet.export_parquet(tmp_path / "o-{000000..000001}.shardpack", tmp_path / "back.pq")
    assert count == 6
    back = pq.read_table(tmp_path / "back.pq")
    assert back["key"].to_pylist() == [f"{n:09}" for n in range(6)]
    for name in table.column_names:
        if name != "image":
            assert back[name].type == table[name].type
            assert back[name].to_pylist() == table[name].to_pylist() * 2, name
    assert back["image"].to_pylist()[0] == {"bytes": b"jj", "path": "image.jpg"}


def test_images_without_bytes_are_read_from_their_paths(tmp_path):
    images = [{"bytes": None, "path": "sub/x.png"}, {"bytes": b"here", "path": "gone.jpg"}, None]
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "x.png").write_bytes(b"pixels")
    source, target = tmp_path / "in" / "t.parquet", tmp_path / "o.shardpack"
    pq.write_table(pa.table({"image": images}), source)
    parquet.import_parquet(source, target)
    dataset = shardpack.open(target)
    assert dataset[0].as_dict() == {"image.png": b"pixels"}
    assert dataset[1].as_dict() == {"image.jpg": b"here"}
    with pytest.raises(FileNotFoundError, match=r"sub/x\.png"):
        parquet.import_parquet(source, target, images=tmp_path, force=True)
    parquet.import_parquet(source, target, images=tmp_path / "in", force=True)
    pq.write_table(pa.table({"image": [{"bytes": None, "path": "../secret"}]}), source)
    with pytest.raises(ValueError, match=r'path "\.\./secret" is not in '):
        parquet.import_parquet(source, target, force=True)


def test_arrays_keep_type_and_shape(tmp_path):
    value = np.array([[1, 0]], "<u2")
    with shardpack.Writer(tmp_path / "npy.shardpack") as writer:
        writer.write("b", {"x": value})
    # Raw numbers, whose type and shape are an extension of the entry.
    raw = TESTDATA / "good" / "extensions.shardpack"
    shape = shardpack.open(raw)[0]["d.bin"].numpy()
    for path, name, array in ((tmp_path / "npy.shardpack", "x", value), (raw, "d.bin", shape)):
        parquet.export_parquet(path, tmp_path / "out.parquet")
        data = pq.read_table(tmp_path / "out.parquet")[name][0].as_py()
        found = np.load(io.BytesIO(data))
        assert found.dtype == array.dtype and found.shape == array.shape
        assert found.tobytes() == array.tobytes()


def test_tensors_and_maps_come_back(tmp_path):
    numbers = np.arange(24, dtype="<f4").reshape(4, 2, 3)
    pairs = pa.map_(pa.string(), pa.list_(pa.map_(pa.int32(), pa.string())))
    table = pa.table(
        {
            "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(numbers),
            "map": pa.array([[("a", [[(1, "x")], []])], [], None, [("b", None)]], pairs),
            "struct": [{"x": [1]}, {"x": None}, None, {"x": []}],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    parquet.import_parquet(tmp_path / "t.parquet", tmp_path / "o.shardpack")
    tensor = shardpack.open(tmp_path / "o.shardpack")[3]["tensor"]
    assert tensor.content_type == "application/x-npy"
    assert tensor.numpy().dtype == "<f4" and (tensor.numpy() == numbers[3]).all()
    parquet.export_parquet(tmp_path / "o.shardpack", tmp_path / "back.parquet")
    back = pq.read_table(tmp_path / "back.parquet")
    assert back.drop_columns("key").equals(table)
    turned = pa.fixed_shape_tensor(pa.int8(), (2, 3), permutation=(1, 0))
    turned = pa.ExtensionArray.from_storage(turned, pa.array([[1] * 6], pa.list_(pa.int8(), 6)))
    pq.write_table(pa.table({"turned": turned}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match='column "turned": tensors of another order'):
        parquet.import_parquet(tmp_path / "t.parquet", tmp_path / "p.shardpack")


def test_a_row_without_a_key_is_an_error(tmp_path):
    pq.write_table(pa.table({"id": ["a", None]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match='row 1 has no key: its "id" is null'):
        parquet.import_parquet(tmp_path / "t.parquet", tmp_path / "o.shardpack", key_column="id")
    assert not (tmp_path / "o.shardpack").exists()


def test_other_shards_have_a_column_for_each_file(tmp_path):
    with shardpack.Writer(tmp_path / "s.shardpack") as writer:
        writer.write("one", {"a.jpg": b"\xff\xd8", "b.txt": "text"})
        writer.write("two", {"b.txt": "more", "c.json": b"{}"})
    assert parquet.export_parquet(tmp_path / "s.shardpack", tmp_path / "s.parquet") == 2
    assert pq.read_table(tmp_path / "s.parquet").to_pylist() == [
        {"key": "one", "a.jpg": b"\xff\xd8", "b.txt": "text", "c.json": None},
        {"key": "two", "a.jpg": None, "b.txt": "more", "c.json": "{}"},
    ]


def test_what_does_not_fit_is_refused(tmp_path, table):
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match='no column "key"'):
        parquet.import_parquet(tmp_path / "t.parquet", tmp_path / "o.shardpack", key_column="key")
    nested = pa.table({"x": [[b"bytes"]]})
    pq.write_table(nested, tmp_path / "n.parquet")
    with pytest.raises(ValueError, match="bytes within a list"):
        parquet.import_parquet(tmp_path / "n.parquet", tmp_path / "o.shardpack")
    assert not (tmp_path / "o.shardpack").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="parquet"):
        parquet.import_parquet(tmp_path / "empty", tmp_path / "o.shardpack")
