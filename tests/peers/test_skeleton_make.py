"""Skeletons that we make, as cloud-volume reads them."""

import cloudvolume
import numpy as np
import pytest

import dolium

RESOLUTION = (16.0, 16.0, 20.0)
OFFSET = (100, 200, 300)
FORK = 2**40 + 5


@pytest.fixture(scope="module")
def volume(tmp_path_factory):
    """A fork that reaches through many blocks."""
    labels = np.zeros((120, 120, 60), np.uint64)
    ends = [(10, 60, 30), (110, 20, 12), (110, 105, 50)]
    places = np.moveaxis(np.indices(labels.shape), 0, -1) * RESOLUTION
    fork = np.array((60, 60, 30)) * RESOLUTION
    for end in ends:
        along = np.array(end) * RESOLUTION - fork
        part = np.clip(((places - fork) @ along) / (along @ along), 0, 1)
        labels[np.linalg.norm(places - fork - part[..., None] * along, axis=-1) < 100] = FORK
    folder = tmp_path_factory.mktemp("made") / "volume"
    dolium.Volume.from_array(folder, np.asfortranarray(labels), type="segmentation",
                             resolution=RESOLUTION, offset=OFFSET, chunk_size=(32, 32, 32))
    return folder


@pytest.mark.parametrize("sharded", [False, True])
def test_cloud_volume_reads_them(volume, tmp_path, sharded):
    dolium.skeleton.make(volume, sharded=sharded, cross_sections=True, force=True,
                         tick=300, memory=10_000_000)
    peer = cloudvolume.CloudVolume(f"file://{volume}", progress=False)
    skeleton = peer.skeleton.get(FORK)
    assert skeleton.vertices.dtype == np.float32
    assert {attribute["id"] for attribute in skeleton.extra_attributes} == {
        "radius", "cross_sectional_area"}
    assert len(skeleton.edges) == len(skeleton.vertices) - 1
    degrees = np.bincount(skeleton.edges.ravel())
    assert (degrees == 1).sum() == 3
    assert len(skeleton.components()) == 1
    # Within the object, in nanometres of the volume.
    voxels = np.floor(skeleton.vertices / RESOLUTION).astype(int) - OFFSET
    stored = np.asarray(dolium.Volume.open(volume)[:])
    assert (stored[tuple(voxels.T)] == FORK).all()
    assert 60 < np.median(skeleton.radius) < 140
    assert 0.6 < np.median(skeleton.cross_sectional_area) / (np.pi * 100**2) < 1.5
