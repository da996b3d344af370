"""Skeletons of labels, on threads and on executors."""

import concurrent.futures
import json

import numpy as np
import pytest

import dolium


def tube(shape, label, axis_at, radius):
    """A tube along x."""
    y, z = np.meshgrid(np.arange(shape[1]), np.arange(shape[2]), indexing="ij")
    plane = np.hypot(y - axis_at[0], z - axis_at[1]) <= radius
    labels = np.zeros(shape, np.uint32)
    labels[5:-5, plane] = label
    return labels


@pytest.fixture
def volume(tmp_path):
    labels = tube((150, 40, 40), 7, (12, 12), 6) + tube((150, 40, 40), 2**31, (30, 28), 5)
    dolium.Volume.from_array(tmp_path / "seg", np.asfortranarray(labels), type="segmentation",
                             resolution=(16, 16, 16), chunk_size=(32, 32, 32))
    return tmp_path / "seg"


def test_skeletons_become_those_of_the_volume(volume):
    report = dolium.skeleton.make(volume)
    assert report.written.entries == 2
    assert json.loads((volume / "info").read_text())["skeletons"] == "skeletons"
    assert {path.name for path in (volume / "skeletons").iterdir()} == {"info", "7", "2147483648"}
    with pytest.raises(FileExistsError):
        dolium.skeleton.make(volume)
    assert dolium.verify(volume).ok


def test_a_plan_runs_on_an_executor(volume, tmp_path):
    plan = dolium.skeleton.plan_make(volume, tmp_path / "lines", sharded=True, segments=[7, 8],
                                     memory=8 << 20)
    assert plan.kind == "skeleton-make"
    assert len(plan.stages) == 2
    assert len(plan.stages[0]) > 3
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        report = plan.run(executor)
    assert report.written.entries == 1
    assert list(dolium.open(tmp_path / "lines")) == [7]
    assert "skeletons" not in json.loads((volume / "info").read_text())


def test_options_are_checked(volume, tmp_path):
    with pytest.raises(ValueError, match="is no length or factor"):
        dolium.skeleton.plan_make(volume, tmp_path / "lines", cover=-1)
    with pytest.raises(ValueError, match="no scale 7"):
        dolium.skeleton.plan_make(dolium.Volume.open(volume), tmp_path / "lines", scale=7)
    assert not (tmp_path / "lines").exists()


def test_arrays_have_centre_lines():
    labels = tube((150, 40, 40), 7, (12, 12), 6)
    lines = dolium.skeleton.skeletonize(labels, resolution=(16, 16, 16), cross_sections=True)
    assert list(lines) == [7]
    line = lines[7]
    assert line.vertices.dtype == np.float32
    assert line.edges.dtype == np.uint32
    assert len(line.vertices) == len(line.radii) == len(line.edges) + 1
    assert abs(line.cable_length() - 140 * 16) < 200
    middle = (line.vertices[:, 0] > 600) & (line.vertices[:, 0] < 1800)
    assert middle.sum() > 50
    # The middle of voxel 12.
    assert np.abs(line.vertices[middle, 1:] - 12.5 * 16).max() < 20
    assert np.abs(line.radii[middle] - 6 * 16).max() < 24
    area = (np.hypot(*np.mgrid[-6:7, -6:7]) <= 6).sum() * 16 * 16
    assert np.abs(line.cross_sectional_areas[middle] - area).max() < area * 0.1


def test_arrays_may_have_any_order_and_labels_may_be_chosen():
    labels = tube((60, 40, 40), 7, (12, 12), 6) + tube((60, 40, 40), 9, (30, 28), 5)
    all_lines = dolium.skeleton.skeletonize(np.ascontiguousarray(labels.astype(np.uint64)))
    assert sorted(all_lines) == [7, 9]
    some = dolium.skeleton.skeletonize(np.asfortranarray(labels), segments=[9])
    assert list(some) == [9]
    assert np.array_equal(some[9].vertices, all_lines[9].vertices)
    assert some[9].cross_sectional_areas is None


def test_arrays_are_checked():
    with pytest.raises(ValueError, match="found 2 dimensions, expected x, y and z"):
        dolium.skeleton.skeletonize(np.zeros((3, 3), np.uint8))
    with pytest.raises(ValueError, match="expected an unsigned type"):
        dolium.skeleton.skeletonize(np.zeros((3, 3, 3), np.float32))
