"""Meshes that we make, as cloud-volume and DracoPy read them."""

import json
import struct

import DracoPy
import numpy as np
import pytest

import dolium

import mesh_sets

RESOLUTION = (8.0, 8.0, 10.0)
OFFSET = (100, 200, 300)
BALL, TORUS = 77, 2**40 + 5


@pytest.fixture(scope="module")
def volume(tmp_path_factory):
    """A ball and a torus that reach through many blocks of cells of the finest level."""
    x, y, z = np.meshgrid(*(np.arange(200) + 0.5,) * 3, indexing="ij")
    labels = np.zeros(x.shape, np.uint64)
    ring = np.hypot(x - 100, y - 100) - 75
    labels[np.hypot(ring, z - 60) < 20] = TORUS
    labels[(x - 100) ** 2 + (y - 100) ** 2 + (z - 140) ** 2 < 50**2] = BALL
    folder = tmp_path_factory.mktemp("made") / "volume"
    dolium.Volume.from_array(folder, np.asfortranarray(labels), type="segmentation",
                             resolution=RESOLUTION, offset=OFFSET)
    return folder


def fragments(manifest):
    """Cells and sizes of each level, and the geometry, read as the specification has it."""
    shape, origin = struct.unpack_from("<3f", manifest), struct.unpack_from("<3f", manifest, 12)
    (levels,) = struct.unpack_from("<I", manifest, 24)
    counts = struct.unpack_from(f"<{levels}I", manifest, 28 + 16 * levels)
    at, table = 28 + 20 * levels, []
    for count in counts:
        columns = np.frombuffer(manifest, "<u4", 4 * count, at).reshape(4, count)
        table.append(columns.T)
        at += 16 * count
    assert at == len(manifest)
    return np.array(shape), np.array(origin), table


def decode(manifest, data, lod, bits):
    """The triangles of a level, by DracoPy."""
    shape, origin, table = fragments(manifest)
    at = sum(int(row[3]) for rows in table[:lod] for row in rows)
    triangles = []
    for *cell, size in table[lod]:
        if size:
            mesh = DracoPy.decode(data[at : at + int(size)])
            points = np.asarray(mesh.points, np.float64) / ((1 << bits) - 1)
            vertices = origin + shape * 2**lod * (np.array(cell) + points)
            triangles.append(vertices[np.asarray(mesh.faces, np.int64)])
        at += int(size)
    return np.concatenate(triangles), len(table[lod])


def is_closed(triangles):
    """Whether each side of a triangle is there in both directions, equally often."""
    corners = np.round(triangles, 3)
    _, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    number = number.reshape(-1, 3).astype(np.int64)
    sides = np.concatenate([number[:, [0, 1]], number[:, [1, 2]], number[:, [2, 0]]])
    forth, back = sides[:, 0] << 32 | sides[:, 1], sides[:, 1] << 32 | sides[:, 0]
    return np.array_equal(np.sort(forth), np.sort(back))


def volume_of(triangles):
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def ordered(triangles):
    rows = np.round(np.asarray(triangles, np.float64), 1).reshape(-1, 9)
    # Each triangle from its least corner on.
    turned = []
    for row in rows.reshape(-1, 3, 3):
        first = min(range(3), key=lambda i: tuple(row[i]))
        turned.append(np.roll(row, -first, axis=0).ravel())
    return np.array(sorted(map(tuple, turned)))


@pytest.mark.parametrize("bits", (10, 16))
@pytest.mark.parametrize("sharded", (False, True))
def test_peers_read_what_we_make(volume, sharded, bits):
    dolium.mesh.make(volume, sharded=sharded, bits=bits, error=4, lods=3, force=True)
    assert json.loads((volume / "info").read_text())["mesh"] == "mesh"
    meshes = dolium.open(volume / "mesh") if sharded else None
    expected = {BALL: 4 / 3 * np.pi * 50**3, TORUS: 2 * np.pi**2 * 75 * 20**2}
    for id, voxels in expected.items():
        if sharded:
            manifest, data = meshes.read(id, preceding=True)
        else:
            manifest = (volume / "mesh" / f"{id}.index").read_bytes()
            data = (volume / "mesh" / str(id)).read_bytes()
        levels = len(fragments(manifest)[2])
        assert levels == (1 if id == BALL else 2)  # a cell has 128 voxels of the longest side
        for lod in range(levels):
            ours, cells = decode(manifest, data, lod, bits)
            assert cells >= (4 if lod + 1 < levels else 1)
            assert is_closed(ours)
            assert volume_of(ours) == pytest.approx(voxels * 8 * 8 * 10, rel=0.01 + lod * 0.03)
            theirs = np.array(mesh_sets.triangles(volume, id, lod))
            assert len(theirs) == len(ours)
            # cloud-volume computes in float32.
            assert np.abs(ordered(theirs) - ordered(ours)).max() < 0.21
        low, high = ours.min(axis=(0, 1)), ours.max(axis=(0, 1))
        centre = (np.array(OFFSET) + (100, 100, 140 if id == BALL else 60)) * RESOLUTION
        assert (low + high) / 2 == pytest.approx(centre, abs=20)
