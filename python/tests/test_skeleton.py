"""dolium.skeleton: skeletons as numpy arrays, and folders of them."""

import numpy as np
import pytest

import dolium
from object_makers import IDS, branch, branches


@pytest.fixture(params=("unsharded", "sharded"))
def written(request, tmp_path):
    dolium.skeleton.write(tmp_path / "lines", branches(), storage=request.param)
    return dolium.skeleton.open(tmp_path / "lines")


def test_skeletons_are_read_as_they_were_written(written):
    assert written.ids().tolist() == list(IDS)
    for id, skeleton in zip(IDS, written.get(IDS), strict=True):
        vertices, edges, attributes = branch(id)
        assert skeleton.id == id
        assert np.array_equal(skeleton.vertices, vertices)
        assert np.array_equal(skeleton.edges, edges)
        assert (skeleton.vertices.dtype, skeleton.edges.dtype) == (np.float32, np.uint32)
        assert np.array_equal(skeleton.attributes["radius"], attributes["radius"])
    assert dolium.verify(written.location).ok
    assert dolium.info(written.location)["kind"] == "skeletons"


def test_a_folder_is_a_mapping(written):
    assert len(written) == len(IDS) and list(written) == list(IDS)
    assert 5 in written and 6 not in written
    with pytest.raises(KeyError):
        written[6]
    assert written.get([6, 5])[0] is None


def test_types_become_float32_unless_they_are_kept(tmp_path):
    vertices, edges, _ = branch(1)
    attributes = {
        "types": np.array([1, 2, 3, 250], np.uint8),
        "colour": np.arange(12, dtype=np.int16).reshape(4, 3),
    }
    for keep in (False, True):
        folder = tmp_path / str(keep)
        dolium.skeleton.write(folder, {1: (vertices, edges, attributes)}, keep_types=keep)
        found = dolium.skeleton.open(folder)[1].attributes
        for name, array in attributes.items():
            assert np.array_equal(found[name], array)
            assert found[name].dtype == (array.dtype if keep else np.float32)
        findings = dolium.verify(folder).findings
        assert [finding.kind for finding in findings] == (["attributes"] if keep else [])


def test_what_is_no_skeleton_is_refused_and_leaves_nothing(tmp_path):
    vertices, edges, attributes = branch(1)
    for bad, message in (
        ((vertices, edges + 4, attributes), "there are 4 vertices"),
        ((vertices, edges, {"radius": np.zeros(3, np.float32)}), "found 3 rows"),
        ((vertices, edges, {}), "other attributes"),
        ((vertices, edges, {"radius": np.zeros(4, np.uint8)}), "expected"),
    ):
        with pytest.raises(ValueError, match=message):
            dolium.skeleton.write(tmp_path / "lines", {1: branch(1), 2: bad})
    with pytest.raises(TypeError, match="complex64"):
        dolium.skeleton.write(
            tmp_path / "lines", {1: (vertices, edges, {"a": np.zeros(4, np.complex64)})}
        )
    with pytest.raises(ValueError, match="legacy"):
        dolium.skeleton.write(tmp_path / "lines", branches(), storage="legacy")
    assert list(tmp_path.iterdir()) == []


def test_swc(written, tmp_path):
    report = written.export(tmp_path / "swc")
    assert (report["files"], report["missing"], report["findings"]) == (len(IDS), 0, [])
    text = (tmp_path / "swc" / "5.swc").read_text()
    assert text.splitlines()[0] == "# skeleton 5, in nanometres"
    assert [line.split()[-1] for line in text.splitlines()[2:]].count("-1") == 1
    again = dolium.skeleton.parse_swc(text)
    assert sorted(again.vertices.tolist()) == sorted(written[5].vertices.tolist())
    assert len(again.edges) == 3
    assert sorted(again.attributes["radius"].tolist()) == [1, 2, 3, 4]
    assert again.attributes["vertex_types"].dtype == np.uint8
    assert dolium.skeleton.parse_swc(written[5].to_swc()).edges.shape == (3, 2)
    with pytest.raises(dolium.CorruptError, match="line 1"):
        dolium.skeleton.parse_swc("1 2 3")
