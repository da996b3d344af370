"""dolium.properties: columns in and out, and made of volumes."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dolium
from dolium import properties
from dolium.properties import Properties, Property


@pytest.fixture
def volume(tmp_path):
    labels = np.zeros((40, 30, 20), np.uint32)
    labels[3:10, 5:7, 1:4] = 7
    labels[30:40, 0:30, 10:20] = 4_000_000_000
    volume = dolium.Volume.from_array(
        tmp_path / "seg", labels, resolution=(8, 8, 40), type="segmentation", chunk_size=(16, 16, 16)
    )
    return tmp_path / "seg", labels, volume


def test_labels_are_measured(volume):
    location, labels, _ = volume
    made = properties.make(location)
    assert list(made.ids) == [7, 4_000_000_000]
    assert list(made["voxels"].values) == [7 * 2 * 3, 10 * 30 * 10]
    for label, row in zip(made.ids, range(2)):
        where = np.argwhere(labels == label)
        for d, axis in enumerate("xyz"):
            assert made[f"begin_{axis}"].values[row] == where[:, d].min()
            assert made[f"end_{axis}"].values[row] == where[:, d].max() + 1
            assert made[f"center_{axis}"].values[row] == pytest.approx(where[:, d].mean() + 0.5)
    assert made["voxels"].values.dtype == np.uint32 and made["center_x"].values.dtype == np.float32


def test_they_are_registered_in_the_volume(volume):
    location, _, _ = volume
    made = properties.make(location)
    made["label"] = Property("label", ["a", "b"])
    made["tags"] = Property("tags", [["big", "old"], ["big"]], tag_descriptions={"big": "very"})
    folder = properties.write(location, made)
    assert folder == str(location / "segment_properties")
    assert json.loads((location / "info").read_text())["segment_properties"] == "segment_properties"
    again = properties.read(location)
    assert again["label"].values == ["a", "b"]
    assert again["tags"].values == [["big", "old"], ["big"]]
    assert again["tags"].tag_descriptions == {"big": "very"}
    with pytest.raises(FileExistsError):
        properties.write(location, made)
    properties.write(location, made, force=True)
    assert dolium.verify(location).errors == 0
    assert dolium.info(folder)["kind"] == "segment properties"


def test_what_the_client_would_not_load_is_refused(tmp_path):
    twice = Properties(np.array([1, 1], np.uint64), {"label": Property("label", ["a", "b"])})
    with pytest.raises(ValueError, match="ids: 1 is there twice"):
        properties.write(tmp_path / "p", twice)
    short = Properties(np.array([1, 2], np.uint64), {"label": Property("label", ["a"])})
    with pytest.raises(ValueError, match="1 values for 2 segments"):
        properties.write(tmp_path / "p", short)


def test_tables_are_read(tmp_path):
    (tmp_path / "p.csv").write_text('id,label,size,kind:tags,note\n5,"a,b",3,x y,hi\n18446744073709551615,c,2.5,y,\n')
    csv = properties.from_csv(tmp_path / "p.csv")
    assert list(csv.ids) == [5, 2**64 - 1]
    assert csv["label"].values == ["a,b", "c"]
    assert csv["size"].values.dtype == np.float32
    assert csv["kind"].values == [["x", "y"], ["y"]]
    assert csv["note"].kind == "string"
    table = pa.table({"id": [1, 2], "label": ["a", None], "n": [2**40, 1], "t": [["x"], []]})
    pq.write_table(table, tmp_path / "p.parquet")
    parquet = properties.from_parquet(tmp_path / "p.parquet")
    assert parquet["label"].values == ["a", ""]
    assert parquet["n"].values.dtype == np.float32
    assert parquet["t"].values == [["x"], []]
