"""Meshes of labels, on threads and on executors."""

import concurrent.futures
import json

import numpy as np
import pytest

import dolium


@pytest.fixture
def volume(tmp_path):
    x, y, z = np.meshgrid(*(np.arange(60) + 0.5,) * 3, indexing="ij")
    labels = np.zeros(x.shape, np.uint32)
    labels[np.hypot(np.hypot(x - 30, y - 30), z - 30) < 12] = 7
    labels[:, :, :10] = 2**31
    dolium.Volume.from_array(tmp_path / "seg", np.asfortranarray(labels), type="segmentation",
                             resolution=(8, 8, 8), chunk_size=(32, 32, 32))
    return tmp_path / "seg"


def test_meshes_become_those_of_the_volume(volume):
    report = dolium.mesh.make(volume)
    assert report.written.entries == 2
    assert json.loads((volume / "info").read_text())["mesh"] == "mesh"
    files = {"info", "7", "7.index", "2147483648", "2147483648.index"}
    assert {path.name for path in (volume / "mesh").iterdir()} == files
    with pytest.raises(FileExistsError):
        dolium.mesh.make(volume)
    assert dolium.verify(volume).findings == []


def test_a_plan_runs_on_an_executor(volume, tmp_path):
    plan = dolium.mesh.plan_make(volume, tmp_path / "meshes", sharded=True, segments=[7, 8])
    assert plan.kind == "mesh-make"
    assert len(plan.stages) == 2
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        report = plan.run(executor)
    assert report.written.entries == 1
    assert list(dolium.open(tmp_path / "meshes")) == [7]
    assert "mesh" not in json.loads((volume / "info").read_text())


def test_options_are_checked(volume, tmp_path):
    with pytest.raises(ValueError, match="expected 10 or 16"):
        dolium.mesh.plan_make(volume, tmp_path / "meshes", bits=11)
    with pytest.raises(ValueError, match="no scale 7"):
        dolium.mesh.plan_make(dolium.Volume.open(volume), tmp_path / "meshes", scale=7)
    assert not (tmp_path / "meshes").exists()


def test_arrays_have_the_same_surfaces(volume, tmp_path):
    labels = np.zeros((40, 30, 20), np.uint64)
    labels[5:15, 5:15, 5:15] = 2**63
    meshes = dolium.mesh.from_array(labels[::-1], resolution=(4, 4, 8), offset=(0, 10, 0), error=0)
    assert list(meshes) == [2**63]
    vertices, triangles = meshes[2**63]
    assert vertices.dtype == np.float32 and triangles.dtype == np.uint32
    assert triangles.max() == len(vertices) - 1
    assert vertices.min(axis=0).tolist() == [100, 60, 40]
    assert vertices.max(axis=0).tolist() == [140, 100, 120]
    with pytest.raises(ValueError, match="expected x, y and z"):
        dolium.mesh.from_array(labels[0])
    with pytest.raises(ValueError, match="expected an unsigned type"):
        dolium.mesh.from_array(labels.astype(np.int32))
