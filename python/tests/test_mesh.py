"""dolium.mesh: meshes as numpy arrays, and folders of them."""

import json
import struct
import sys
import types

import numpy as np
import pytest

import dolium
from object_makers import IDS, ball, balls

STORAGES = ("unsharded", "sharded", "legacy")


@pytest.fixture(params=STORAGES)
def written(request, tmp_path):
    dolium.mesh.write(tmp_path / "mesh", balls(), storage=request.param)
    return dolium.mesh.open(tmp_path / "mesh")


def test_meshes_are_read_as_they_were_written(written):
    assert written.ids().tolist() == list(IDS)
    assert written.ids().dtype == np.uint64
    found = written.get(IDS)
    for id, mesh in zip(IDS, found, strict=True):
        vertices, faces = balls()[id]
        assert mesh.id == id
        assert (mesh.vertices.dtype, mesh.faces.dtype) == (np.float32, np.uint32)
        assert len(mesh.vertices) == len(vertices)
        step = 0 if written.is_legacy else 2 * 50 / (2**16 - 1)
        assert np.abs(np.sort(mesh.vertices, axis=0) - np.sort(vertices, axis=0)).max() <= step
        assert len(mesh.faces) == len(faces)


def test_a_folder_is_a_mapping(written):
    assert len(written) == len(IDS) and list(written) == list(IDS)
    assert 5 in written and 6 not in written
    assert np.array_equal(written[77].vertices, written.get([77])[0].vertices)
    assert written.get([5, 6])[1] is None
    with pytest.raises(KeyError):
        written[6]
    assert written.levels(5) == 1
    with pytest.raises(KeyError):
        written.levels(6)
    with pytest.raises(ValueError, match="level 1 was asked for, it has 1"):
        written.get([5], lod=1)


def test_a_folder_says_how_it_is_stored(written):
    assert dolium.verify(written.location).ok
    assert dolium.info(written.location)["kind"] == "meshes"
    if written.is_legacy:
        assert written.info == {} and not written.is_sharded
    else:
        assert written.info["vertex_quantization_bits"] == 16
        assert ("sharding" in written.info) == written.is_sharded


def test_a_set_and_a_volume_lead_to_their_meshes(tmp_path):
    volume = dolium.Volume.create(
        tmp_path / "seg", shape=(8, 8, 8), dtype=np.uint64, type="segmentation"
    )
    dolium.mesh.write(tmp_path / "seg" / "mesh", balls(), register=True)
    assert json.loads((tmp_path / "seg" / "info").read_text())["mesh"] == "mesh"
    for meshes in (
        dolium.mesh.open(volume.location),
        dolium.Volume.open(tmp_path / "seg").meshes(),
        dolium.open(tmp_path / "seg" / "mesh").meshes(),
    ):
        assert meshes.ids().tolist() == list(IDS)
    with pytest.raises(FileNotFoundError, match="names no skeletons"):
        dolium.skeleton.open(tmp_path / "seg")


def test_the_transform_goes_to_nanometres(tmp_path):
    dolium.mesh.write(
        tmp_path / "mesh", balls(), transform=(4, 0, 0, 100, 0, 4, 0, 0, 0, 0, 40, 0)
    )
    meshes = dolium.mesh.open(tmp_path / "mesh")
    stored = meshes.get([5], stored_units=True)[0].vertices
    assert np.allclose(meshes[5].vertices, stored * [4, 4, 40] + [100, 0, 0], rtol=1e-6)


def test_what_is_no_mesh_is_refused_and_leaves_nothing(tmp_path):
    vertices, faces = ball()
    for bad, message in (
        ((vertices[:, :2], faces), r"expected \(n, 3\)"),
        ((vertices, faces + len(vertices)), "there are"),
        ((vertices, faces.astype(float)), "expected integers"),
        ((np.full_like(vertices, np.nan), faces), "expected finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            dolium.mesh.write(tmp_path / "mesh", {1: (vertices, faces), 2: bad})
    with pytest.raises(ValueError, match="no label"):
        dolium.mesh.write(tmp_path / "mesh", {0: (vertices, faces)})
    with pytest.raises(ValueError, match="storage"):
        dolium.mesh.write(tmp_path / "mesh", {}, storage="shards")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_caller_goes_through(tmp_path):
    def failing():
        yield 1, ball()
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        dolium.mesh.write(tmp_path / "mesh", failing())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_only_if_that_is_asked_for(tmp_path):
    dolium.mesh.write(tmp_path / "mesh", balls())
    with pytest.raises(FileExistsError):
        dolium.mesh.write(tmp_path / "mesh", {9: ball()})
    dolium.mesh.write(tmp_path / "mesh", {9: ball()}, force=True, storage="sharded")
    assert dolium.mesh.open(tmp_path / "mesh").ids().tolist() == [9]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("keep")
    with pytest.raises(FileExistsError, match="something else"):
        dolium.mesh.write(tmp_path / "other", {9: ball()}, force=True)


class Trimesh:
    """What trimesh.Trimesh is given."""

    def __init__(self, vertices, faces, process):
        self.vertices, self.faces, self.process = vertices, faces, process


def test_a_mesh_becomes_one_of_trimesh(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", types.SimpleNamespace(Trimesh=Trimesh))
    made = written[5].to_trimesh()
    assert np.array_equal(made.vertices, written[5].vertices)
    assert np.array_equal(made.faces, written[5].faces)
    assert made.process is False


def test_files_of_other_programs(written, tmp_path):
    report = written.export(tmp_path / "ply", [5, 77, 6])
    assert (report["files"], report["missing"]) == (2, 1)
    assert [finding.key for finding in report["findings"]] == ["6"]
    mesh = dolium.mesh.read_file((tmp_path / "ply" / "77.ply").read_bytes())
    assert np.array_equal(mesh.vertices, written[77].vertices)
    assert np.array_equal(mesh.faces, written[77].faces)
    assert written[5].to_bytes("ply") == (tmp_path / "ply" / "5.ply").read_bytes()
    glb = written[5].to_bytes("glb")
    assert struct.unpack("<4sII", glb[:12]) == (b"glTF", 2, len(glb))
    with pytest.raises(FileExistsError):
        written.export(tmp_path / "ply", [5])
    with pytest.raises(dolium.CorruptError, match="line 1"):
        dolium.mesh.read_file(b"nothing")


def test_the_storage_is_converted(tmp_path):
    dolium.mesh.write(tmp_path / "files", balls())
    dolium.convert(tmp_path / "files", tmp_path / "sharded", to="neuroglancer")
    dolium.convert(tmp_path / "sharded", tmp_path / "back", to="unsharded")
    assert dolium.mesh.open(tmp_path / "sharded").is_sharded
    for name in ("sharded", "back"):
        meshes = dolium.mesh.open(tmp_path / name)
        assert np.array_equal(
            meshes[5].vertices, dolium.mesh.open(tmp_path / "files")[5].vertices
        )
        assert dolium.verify(tmp_path / name).ok
