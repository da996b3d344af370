"""dolium.annotations: arrays in and out."""

import numpy as np
import pyarrow as pa
import pytest

import dolium
from dolium import annotations

DIMENSIONS = {"x": (8, "nm"), "y": (8, "nm"), "z": (40, "nm")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 1000, (5000, 3)).astype(np.float32)
    properties = {
        "score": rng.random(5000, np.float32),
        "kind": rng.integers(0, 9, 5000).astype(np.uint8),
        "color": rng.integers(0, 256, (5000, 3)).astype(np.uint8),
    }
    related = {"segments": [[i % 7, 100 + i % 5] if i % 3 else [] for i in range(5000)]}
    folder = tmp_path_factory.mktemp("annotations") / "set"
    counts = annotations.write(folder, points, properties, related, dimensions=DIMENSIONS, limit=200)
    assert counts["annotations"] == 5000 and counts["levels"] >= 3
    return folder, points, properties, related


def test_what_was_written_is_read_by_id(made):
    folder, points, properties, related = made
    found = annotations.open(folder).get([4999, 0, 7, 10**9])
    assert list(found.array["id"]) == [4999, 0, 7]
    np.testing.assert_array_equal(found.array["geometry"], points[[4999, 0, 7]])
    for name, values in properties.items():
        np.testing.assert_array_equal(found.array[name], values[[4999, 0, 7]])
    assert [list(ids) for ids in found.relationships["segments"]] == [related["segments"][i] for i in (4999, 0, 7)]


def test_a_box_has_those_in_it(made):
    folder, points, _, _ = made
    lower, upper = [100, 200, 0], [400, 500, 700]
    found = annotations.open(folder).query(lower, upper)
    inside = np.flatnonzero(np.all((points >= lower) & (points <= upper), axis=1))
    np.testing.assert_array_equal(np.sort(found.array["id"]), inside)
    few = annotations.open(folder).query(lower, upper, levels=1)
    assert 0 < len(few) < len(found)


def test_related_annotations_are_found(made):
    folder, _, _, related = made
    found = annotations.open(folder).related("segments", 3)
    assert list(found.array["id"]) == [i for i, ids in enumerate(related["segments"]) if 3 in ids]
    with pytest.raises(ValueError, match="no relationship \"cells\"; there is segments"):
        annotations.open(folder).related("cells", 3)


def test_verify_info_and_ls_know_them(made):
    folder = made[0]
    assert dolium.info(folder)["kind"] == "annotations"
    report = dolium.verify(folder)
    assert report.errors == 0 and report.findings == []


@pytest.mark.parametrize("unsharded", [False, True])
def test_polylines_have_lists_of_points(tmp_path, unsharded):
    lines = [np.array([[0, 0], [3, 4], [5, 5]]), np.array([[7, 8], [9, 9]])]
    annotations.write(
        tmp_path / "set",
        lines,
        {"width": np.array([1, 2], np.uint16)},
        type="polyline",
        dimensions={"x": (1, "nm"), "y": (1, "nm")},
        unsharded=unsharded,
        ids=[5, 3],
    )
    source = annotations.open(tmp_path / "set")
    found = source.get(source.ids())
    assert list(found.array["id"]) == [3, 5] and list(found.array["width"]) == [2, 1]
    np.testing.assert_array_equal(found.points[0], lines[1])
    np.testing.assert_array_equal(found.points[1], lines[0])
    assert len(source.query([6, 6], [10, 10]).points) == 1


def test_tables_go_there_and_back(tmp_path):
    table = pa.table(
        {
            "id": pa.array([4, 2], pa.uint64()),
            "x": pa.array([1.5, 2.5]),
            "y": pa.array([0.0, 1.0]),
            "z": pa.array([9.0, 8.0]),
            "size": pa.array([70000, 5], pa.uint32()),
            "pre": pa.array([[1, 2], []], pa.list_(pa.uint64())),
        }
    )
    annotations.from_table(tmp_path / "set", table, relationships=["pre"])
    count = annotations.write_parquet(tmp_path / "set", tmp_path / "out.parquet")
    assert count == 2
    annotations.read_parquet(tmp_path / "again", tmp_path / "out.parquet", relationships=["pre"])
    source = annotations.open(tmp_path / "again")
    found = source.get([4, 2])
    assert list(found.array["size"]) == [70000, 5]
    assert [list(ids) for ids in found.relationships["pre"]] == [[1, 2], []]
    assert found.array["geometry"].tolist() == [[1.5, 0, 9], [2.5, 1, 8]]


def test_what_does_not_go_together_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"points: shape \(2, 2\), expected \(2, 3\)"):
        annotations.write(tmp_path / "a", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="annotation 1: coordinate 2 is nan"):
        annotations.write(tmp_path / "a", [[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(ValueError, match="3 values for 2 annotations"):
        annotations.write(tmp_path / "a", np.zeros((2, 3)), {"n": np.zeros(3, np.float32)})
    with pytest.raises(TypeError, match="a property of int64"):
        annotations.write(tmp_path / "a", np.zeros((2, 3)), {"n": np.zeros(2, np.int64)})
    with pytest.raises(ValueError, match="given twice"):
        annotations.write(tmp_path / "a", np.zeros((2, 3)), ids=[1, 1])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_only_where_that_is_allowed(tmp_path):
    target = tmp_path / "set"
    annotations.write(target, np.zeros((2, 3)))
    with pytest.raises(FileExistsError):
        annotations.write(target, np.zeros((3, 3)))
    annotations.write(target, np.ones((3, 3)), force=True)
    assert len(annotations.open(target).ids()) == 3
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").write_text("x")
    with pytest.raises(FileExistsError, match="holds no annotations"):
        annotations.write(other, np.zeros((2, 3)), force=True)
    assert (other / "mine").read_text() == "x"


def test_an_exception_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError):
        with annotations.Writer(tmp_path / "set") as writer:
            writer.add(np.zeros((2, 3)))
            raise RuntimeError
    assert list(tmp_path.iterdir()) == []
