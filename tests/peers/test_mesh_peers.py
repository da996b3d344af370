"""Sharded meshes keep their fragments, unindexed, right before their manifests: whatever we do
to a set, its peers still find them there."""

import json
import pathlib

import dolium
import numpy as np
import pytest
from cloudvolume import CloudVolume, Skeleton

import mesh_sets
import program
import sharded_sets
from peers import CloudVolumeSet, TensorStoreSet
from sharded_sets import make_spec

MESHES = {
    id: mesh_sets.make_mesh(seed, lods=1 + seed % 3)
    for seed, id in enumerate((1, 2, 3, 17, 900, 901, 2**33, 2**63 + 1, 2**64 - 1))
}
SPEC = make_spec((0, 2, 1), "murmurhash3_x86_128", "gzip", "raw")
OTHER_SPEC = make_spec((0, 0, 3), "identity", "raw", "raw")
OBJECT_IDS = (1, 5, 77, 123456789012345)


def make_ball(id):
    """Vertices and faces of an octahedron that is cut finer twice."""
    vertices = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(2):
        middles, finer = {}, []
        for a, b, c in faces:
            corners = []
            for edge in ((a, b), (b, c), (c, a)):
                key = tuple(sorted(edge))
                if key not in middles:
                    middles[key] = len(vertices)
                    middle = np.add(*(vertices[i] for i in edge))
                    vertices.append(tuple(middle / np.linalg.norm(middle)))
                corners.append(middles[key])
            ab, bc, ca = corners
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    return (np.array(vertices) * 20 + 30 + id % 7).astype(np.float32), np.array(faces, np.uint32)


def make_line(id):
    vertices = np.array([[id % 50, i, 2 * i] for i in range(6)], np.float32)
    edges = np.array([[i, i + 1] for i in range(5)], np.uint32)
    return vertices, edges, {"radius": np.arange(6, dtype=np.float32) + 1}


def write_by_cloud_volume(folder, spec, meshes):
    CloudVolumeSet(folder, spec).write(
        {id: mesh.fragments + mesh.manifest for id, mesh in meshes.items()},
        {id: len(mesh.manifest) for id, mesh in meshes.items()},
    )


def check_by_tensorstore(folder, spec, meshes):
    theirs = TensorStoreSet(folder, spec)
    assert theirs.ids() == sorted(meshes)
    for id, mesh in meshes.items():
        assert theirs.read(id) == mesh.manifest
        assert theirs.read_preceding(id, len(mesh.fragments)) == mesh.fragments


@pytest.fixture(scope="module")
def their_volume(tmp_path_factory):
    """A volume with meshes that cloud-volume wrote."""
    volume = tmp_path_factory.mktemp("meshes") / "volume"
    write_by_cloud_volume(mesh_sets.make_volume(volume, SPEC), SPEC, MESHES)
    return volume


def test_the_peers_agree_before_we_touch_anything(their_volume):
    check_by_tensorstore(their_volume / "mesh", SPEC, MESHES)
    assert len(mesh_sets.triangles(their_volume, 2, 0)) == 8
    assert len(mesh_sets.triangles(their_volume, 1, 0)) == 4  # one fragment is empty


def test_we_find_the_fragments_of_cloud_volume(their_volume):
    ours = dolium.open(their_volume / "mesh")
    assert ours.verify().findings == []
    for id, mesh in MESHES.items():
        assert ours[id] == mesh.manifest
        assert ours.read(id, preceding=True) == (mesh.manifest, mesh.fragments)
        assert ours.find(id).preceding == len(mesh.fragments)
        assert program.run("cat", "--preceding", their_volume / "mesh", id) == mesh.fragments


@pytest.mark.parametrize("spec", (SPEC, OTHER_SPEC), ids=sharded_sets.name)
def test_convert_carries_the_fragments_along(spec, their_volume, tmp_path):
    folder = mesh_sets.make_volume(tmp_path / "volume", spec)
    (folder / "info").unlink()
    dolium.convert(their_volume / "mesh", folder, sharding=spec)
    check_by_tensorstore(folder, spec, MESHES)
    info = json.loads((folder / "info").read_text())
    assert info == mesh_sets.make_info(spec)
    for id in (1, 2, 3, 2**33):
        for lod in range(1 + list(MESHES).index(id) % 3):
            assert mesh_sets.triangles(tmp_path / "volume", id, lod) == mesh_sets.triangles(
                their_volume, id, lod
            )


@pytest.mark.parametrize("spec", (SPEC, OTHER_SPEC), ids=sharded_sets.name)
def test_what_we_write_equals_what_we_convert(spec, their_volume, tmp_path):
    dolium.convert(their_volume / "mesh", tmp_path / "converted", sharding=spec)
    items = [(id, mesh.manifest, mesh.fragments) for id, mesh in MESHES.items()]
    dolium.write_sharded(tmp_path / "written", spec, items, info=mesh_sets.make_info(spec))
    check_by_tensorstore(tmp_path / "written", spec, MESHES)
    assert sharded_sets.shard_files(tmp_path / "written") == sharded_sets.shard_files(
        tmp_path / "converted"
    )


def test_put_and_remove_leave_the_fragments_of_others_in_place(tmp_path):
    folder = mesh_sets.make_volume(tmp_path / "volume", SPEC)
    write_by_cloud_volume(folder, SPEC, MESHES)
    meshes = dict(MESHES)
    new, replaced = mesh_sets.make_mesh(100, lods=2), mesh_sets.make_mesh(101, lods=3)
    ours = dolium.open(folder)
    ours.put(4, new.manifest, preceding=new.fragments)
    ours.remove(17)
    (tmp_path / "manifest").write_bytes(replaced.manifest)
    (tmp_path / "fragments").write_bytes(replaced.fragments)
    program.run(
        *("put", "--force", "--preceding", tmp_path / "fragments"),
        *(folder, 2**33, tmp_path / "manifest"),
    )
    meshes |= {4: new, 2**33: replaced}
    del meshes[17]
    check_by_tensorstore(folder, SPEC, meshes)
    assert len(mesh_sets.triangles(tmp_path / "volume", 4, 1)) == 4
    assert dolium.open(folder).verify().findings == []


def test_a_manifest_that_does_not_match_its_fragments_is_refused(tmp_path):
    folder = mesh_sets.make_volume(tmp_path / "volume", SPEC)
    write_by_cloud_volume(folder, SPEC, MESHES)
    before = sharded_sets.shard_files(folder)
    mesh = mesh_sets.make_mesh(100, lods=2)
    with pytest.raises(ValueError):
        dolium.open(folder).put(4, mesh.manifest, preceding=mesh.fragments[1:])
    assert sharded_sets.shard_files(folder) == before


# Through dolium.mesh and dolium.skeleton, and between the storages.


def positions(vertices, faces):
    """Triangles as positions, each from its smallest corner on, in order."""
    corners = np.asarray(vertices, np.float64)[np.asarray(faces, np.int64)].round(2)
    out = []
    for triangle in corners.tolist():
        first = triangle.index(min(triangle))
        out.append(triangle[first:] + triangle[:first])
    return sorted(out)


def cloud_volume(folder):
    return CloudVolume(f"file://{pathlib.Path(folder).resolve()}", progress=False)


def their_mesh(source, id, **wanted):
    found = source.get(id, **wanted)
    return found[id] if isinstance(found, dict) else found


def make_segmentation(folder):
    dolium.Volume.create(folder, shape=(64, 64, 64), dtype=np.uint64, type="segmentation")
    return folder


@pytest.mark.parametrize("storage", ("unsharded", "sharded", "legacy"))
def test_cloud_volume_reads_the_meshes_that_we_write(storage, tmp_path):
    volume = make_segmentation(tmp_path / "seg")
    meshes = {id: make_ball(id) for id in OBJECT_IDS}
    dolium.mesh.write(volume / "mesh", meshes, storage=storage, register=True)
    ours = dolium.mesh.open(volume)
    theirs = cloud_volume(volume).mesh
    for id in OBJECT_IDS:
        mesh = their_mesh(theirs, id)
        assert positions(mesh.vertices, mesh.faces) == positions(ours[id].vertices, ours[id].faces)
        assert len(mesh.faces) == len(meshes[id][1])


@pytest.mark.parametrize("storage", ("unsharded", "sharded"))
def test_cloud_volume_reads_the_skeletons_that_we_write(storage, tmp_path):
    volume = make_segmentation(tmp_path / "seg")
    skeletons = {id: make_line(id) for id in OBJECT_IDS}
    dolium.skeleton.write(volume / "skeletons", skeletons, storage=storage, register=True)
    theirs = cloud_volume(volume).skeleton
    for id, (vertices, edges, attributes) in skeletons.items():
        skeleton = theirs.get(id)
        assert np.array_equal(skeleton.vertices, vertices)
        assert np.array_equal(skeleton.edges, edges)
        assert np.array_equal(skeleton.radius, attributes["radius"])


def test_we_read_the_skeletons_of_cloud_volume(tmp_path):
    volume = make_segmentation(tmp_path / "seg")
    info = json.loads((volume / "info").read_text()) | {"skeletons": "skeletons"}
    (volume / "info").write_text(json.dumps(info))
    source = cloud_volume(volume).skeleton
    source.meta.info["vertex_attributes"] = source.meta.default_info()["vertex_attributes"]
    source.meta.commit_info()
    for id in OBJECT_IDS:
        vertices, edges, attributes = make_line(id)
        source.upload(Skeleton(vertices, edges, attributes["radius"], segid=id))
    ours = dolium.skeleton.open(volume)
    assert ours.ids().tolist() == sorted(OBJECT_IDS)
    assert dolium.verify(ours.location).errors == 0
    dolium.convert(ours.location, tmp_path / "sharded", to="neuroglancer")
    dolium.convert(tmp_path / "sharded", tmp_path / "files", to="unsharded")
    for folder in (ours.location, tmp_path / "sharded", tmp_path / "files"):
        for skeleton in dolium.skeleton.open(folder).get(OBJECT_IDS):
            vertices, edges, attributes = make_line(skeleton.id)
            assert np.array_equal(skeleton.vertices, vertices)
            assert np.array_equal(skeleton.edges, edges)
            assert np.array_equal(skeleton.attributes["radius"], attributes["radius"])


def test_we_read_the_meshes_of_cloud_volume_in_both_storages(their_volume, tmp_path):
    files, back = tmp_path / "files", tmp_path / "back"
    for folder in (files, back):
        mesh_sets.make_volume(folder, SPEC)
        (folder / "mesh" / "info").unlink()
    program.run("convert", "--unsharded", their_volume / "mesh", files / "mesh")
    program.run("convert", "--sharded", files / "mesh", back / "mesh")
    assert (files / "mesh" / "17.index").read_bytes() == MESHES[17].manifest
    assert (files / "mesh" / "17").read_bytes() == MESHES[17].fragments
    for volume in (their_volume, files, back):
        ours = dolium.mesh.open(volume)
        assert ours.ids().tolist() == sorted(MESHES)
        for id in (1, 2, 3, 2**33):
            for lod in range(ours.levels(id)):
                mesh = ours.get([id], lod=lod)[0]
                theirs = mesh_sets.triangles(volume, id, lod)
                found = mesh.vertices[mesh.faces].tolist()
                assert len(found) == len(theirs)
                assert np.allclose(
                    sorted(map(sorted, found)), sorted(map(sorted, theirs)), atol=0.002
                )
