"""Sharded meshes keep their fragments, unindexed, right before their manifests: whatever we do
to a set, its peers still find them there."""

import json

import dolium
import pytest

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
