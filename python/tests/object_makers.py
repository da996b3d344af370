"""Meshes and skeletons for tests."""

import numpy as np

IDS = (1, 5, 77, 123456789012345, 2**64 - 1)


def ball(centre=(0, 0, 0), radius=50.0, rings=8):
    """A closed sphere: vertices and faces."""
    theta = np.linspace(0, np.pi, rings + 1)[1:-1]
    phi = np.arange(2 * rings) * np.pi / rings
    ring = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones_like(phi)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.vstack([[0, 0, 1], ring, [0, 0, -1]]) * radius + np.asarray(centre)
    columns, last = 2 * rings, len(vertices) - 1
    faces = []
    for column in range(columns):
        beside = (column + 1) % columns
        faces.append((0, 1 + column, 1 + beside))
        for row in range(rings - 2):
            a, b = 1 + row * columns + column, 1 + row * columns + beside
            faces += [(a, a + columns, b + columns), (a, b + columns, b)]
        row = rings - 2
        faces.append((last, 1 + row * columns + beside, 1 + row * columns + column))
    return vertices.astype(np.float32), np.array(faces, np.uint32)


def balls(ids=IDS):
    return {id: ball((id % 100, 7, 9), 40 + i) for i, id in enumerate(ids)}


def branch(id):
    """A skeleton of four vertices: vertices, edges, attributes."""
    x = float(id % 100)
    vertices = np.array([[x, 0, 0], [x, 1, 0], [x, 2, 0], [x, 1, 1]], np.float32)
    edges = np.array([[0, 1], [1, 2], [1, 3]], np.uint32)
    return vertices, edges, {"radius": np.array([1, 2, 3, 4], np.float32)}


def branches(ids=IDS):
    return {id: branch(id) for id in ids}
