"""Jobs of objects.py: each in a process of its own, prints its result as JSON."""

import json
import pathlib
import random
import sys
import time

import numpy as np

BATCH = 1000


def wave(rings, columns, seed):
    """A closed tube that is thicker here and there: vertices and faces."""
    along = np.linspace(0, 1, rings)[:, None]
    around = np.arange(columns)[None, :] * (2 * np.pi / columns)
    radius = 200 + 60 * np.sin(7 * along + seed)
    vertices = np.stack(
        [
            np.broadcast_to(4000 * along, (rings, columns)),
            radius * np.cos(around),
            radius * np.sin(around) + 300 * np.sin(3 * along + seed),
        ],
        axis=-1,
    ).reshape(-1, 3)
    row, column = np.mgrid[: rings - 1, :columns]
    a, b = row * columns + column, row * columns + (column + 1) % columns
    faces = np.concatenate(
        [
            np.stack([a, b, b + columns], -1).reshape(-1, 3),
            np.stack([a, b + columns, a + columns], -1).reshape(-1, 3),
        ]
    )
    return vertices.astype(np.float32), faces.astype(np.uint32)


def line(vertices, seed):
    at = np.linspace(0, 1, vertices)
    positions = np.stack([4000 * at, 300 * np.sin(3 * at + seed), 90 * np.cos(9 * at)], -1)
    edges = np.stack([np.arange(vertices - 1), np.arange(1, vertices)], -1)
    radius = (200 + 60 * np.sin(7 * at + seed)).astype(np.float32)
    return positions.astype(np.float32), edges.astype(np.uint32), {"radius": radius}


def ids_of(count):
    return [1000 + 7 * i for i in range(count)]


def make(path, count):
    import dolium

    volume = pathlib.Path(path) / "seg"
    dolium.Volume.create(
        volume, shape=(64, 64, 64), dtype=np.uint64, type="segmentation", resolution=(8, 8, 8)
    )
    ids = ids_of(count)
    dolium.mesh.write(
        volume / "mesh", ((id, wave(26, 20, id)) for id in ids), storage="sharded", register=True
    )
    dolium.skeleton.write(
        volume / "skeletons", ((id, line(200, id)) for id in ids), storage="sharded", register=True
    )
    return {}


def reader(system, kind, volume):
    """A function of ids that reads them all and returns the number of vertices."""
    if system == "dolium":
        import dolium

        source = getattr(dolium, kind).open(volume)
        return lambda ids: sum(len(one.vertices) for one in source.get(ids))
    from cloudvolume import CloudVolume

    source = getattr(CloudVolume(f"file://{volume}", progress=False), kind)
    if kind == "mesh":
        return lambda ids: sum(len(one.vertices) for one in source.get(ids, lod=0).values())
    return lambda ids: sum(len(one.vertices) for one in source.get(ids))


def read(system, kind, path, most):
    ids = ids_of(most)
    random.Random(1).shuffle(ids)
    run = reader(system, kind, pathlib.Path(path).resolve() / "seg")
    vertices = run(ids[:1])
    began = time.perf_counter()
    vertices = 0
    for first in range(0, len(ids), BATCH):
        vertices += run(ids[first : first + BATCH])
    seconds = time.perf_counter() - began
    assert vertices == len(ids) * (200 if kind == "skeleton" else 520), vertices
    return {"seconds": seconds, "count": len(ids)}


if __name__ == "__main__":
    job = {"make": make, "read": read}[sys.argv[1]]
    print(json.dumps(job(**json.loads(sys.argv[2]))))
