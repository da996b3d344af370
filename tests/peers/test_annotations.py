"""Annotations: those that the neuroglancer package writes are read by us, and ours by a reader that
knows the specification alone."""

import itertools
import json
import pathlib
import random

import neuroglancer
import numpy as np
import pytest
from neuroglancer import write_annotations

import dolium
from annotation_reader import AnnotationReader
from dolium import annotations

TYPES = ("point", "line", "axis_aligned_bounding_box", "ellipsoid", "polyline")
NAMES = ("x", "y", "z")
SPACE = neuroglancer.CoordinateSpace(names=list(NAMES), scales=[8, 8, 40], units="nm")
DIMENSIONS = {"x": (8e-9, "m"), "y": (8e-9, "m"), "z": (4e-8, "m")}
# The writer of the package aligns uint32 to 3 bytes, so that it is put first.
PROPERTIES = {
    "big": "uint32",
    "float": "float32",
    "signed": "int32",
    "half": "uint16",
    "short": "int16",
    "byte": "uint8",
    "tiny": "int8",
    "color": "rgb",
    "shade": "rgba",
}


def make(type, count, reach=1000.0, seed=3):
    """Geometries, properties by name and related ids."""
    rng = np.random.default_rng(seed)
    picked = random.Random(seed)
    centers = rng.uniform(0, reach, (count, 3)).astype(np.float32)
    centers[::2] *= 0.1
    if type == "point":
        shapes = centers
    elif type == "polyline":
        shapes = [c + rng.uniform(-20, 20, (2 + i % 4, 3)).astype(np.float32) for i, c in enumerate(centers)]
    else:
        sizes = rng.uniform(0, 30, (count, 3)).astype(np.float32)
        shapes = np.concatenate([centers, sizes if type == "ellipsoid" else centers + sizes], axis=1)
    values = {}
    for name, kind in PROPERTIES.items():
        if kind in ("rgb", "rgba"):
            values[name] = rng.integers(0, 256, (count, len(kind)), np.uint8)
        elif kind == "float32":
            values[name] = rng.random(count, np.float32)
        else:
            limits = np.iinfo(kind)
            values[name] = rng.integers(limits.min, limits.max, count, kind, endpoint=True)
    related = [[2**60 + one for one in picked.sample(range(40), i % 3)] for i in range(count)]
    return shapes, values, related


def write_by_neuroglancer(folder, type, shapes, values, related, ids, properties=PROPERTIES):
    writer = write_annotations.AnnotationWriter(
        SPACE,
        type,
        relationships=["segments"],
        properties=[neuroglancer.AnnotationPropertySpec(id=name, type=kind) for name, kind in properties.items()],
    )
    add = getattr(writer, f"add_{type}")
    for i, shape in enumerate(shapes):
        given = {name: values[name][i] for name in properties}
        points = [shape] if type == "point" else [shape] if type == "polyline" else [shape[:3], shape[3:]]
        add(*points, id=int(ids[i]), segments=related[i], **given)
    writer.write(folder)


@pytest.mark.parametrize("type", TYPES)
def test_we_read_what_the_package_writes(tmp_path, type):
    shapes, values, related = make(type, 60)
    ids = [7 * i for i in range(60)]
    # With uint32 before the others of 4 bytes, the package leaves a gap that no reader knows.
    properties = {name: kind for name, kind in PROPERTIES.items() if kind != "uint32"}
    write_by_neuroglancer(tmp_path / "set", type, shapes, values, related, ids, properties)
    source = annotations.open(tmp_path / "set")
    assert list(source.ids()) == ids
    found = source.get(ids)
    for i, shape in enumerate(shapes):
        points = found.points[i] if type == "polyline" else found.array["geometry"][i]
        np.testing.assert_array_equal(points, shape)
        assert list(found.relationships["segments"][i]) == related[i]
    for name in properties:
        np.testing.assert_array_equal(found.array[name], values[name])
    everything = source.query([-1e6] * 3, [1e6] * 3)
    assert sorted(everything.array["id"]) == ids
    assert [one for one in dolium.verify(tmp_path / "set").findings if one.severity == "error"] == []


@pytest.mark.parametrize("unsharded", [False, True])
@pytest.mark.parametrize("type", TYPES)
def test_a_reader_of_the_specification_reads_ours(tmp_path, type, unsharded):
    count = 700
    shapes, values, related = make(type, count)
    annotations.write(
        tmp_path / "set",
        shapes,
        values,
        {"segments": related},
        type=type,
        dimensions=DIMENSIONS,
        unsharded=unsharded,
        limit=30,
    )
    reader = AnnotationReader(tmp_path / "set")
    assert list(reader.info["dimensions"].items()) == [(name, list(one)) for name, one in DIMENSIONS.items()]
    # By id.
    for i in range(count):
        points, properties, of_segments = reader.get(i)
        np.testing.assert_array_equal(np.asarray(points, np.float32), np.ravel(shapes[i]))
        assert list(of_segments["segments"]) == related[i]
        for name, column in values.items():
            np.testing.assert_array_equal(np.asarray(properties[name], column.dtype), column[i])
    assert reader.get(count) is None
    # By segment.
    for segment in sorted(set(itertools.chain(*related))):
        expected = [i for i in range(count) if segment in related[i]]
        assert sorted(reader.list(reader.related["segments"].get(segment))) == expected
    # By cell: each annotation in one level, and there in every cell that it meets.
    levels = reader.levels()
    assert len(levels) >= 3
    seen = {}
    for number, lists in enumerate(levels):
        level = reader.info["spatial"][number]
        sizes = [len(one) for one in lists.values()]
        assert max(sizes) <= 2 * level["limit"]
        for cell, found in lists.items():
            lower, upper = reader.cell_bounds(number, cell)
            for id, (points, _) in found.items():
                np.testing.assert_array_equal(np.asarray(points, np.float32), np.ravel(shapes[id]))
                seen.setdefault(id, []).append((number, cell))
                low, high = reach_of(type, np.asarray(points).reshape(-1, 3))
                assert np.all(high >= np.subtract(lower, 1e-3)) and np.all(low <= np.add(upper, 1e-3))
    assert sorted(seen) == list(range(count))
    for id, places in seen.items():
        assert len({number for number, _ in places}) == 1
        assert type != "point" or len(places) == 1
        # All cells of a box, or of what stands for its corners.
        if type == "axis_aligned_bounding_box":
            number = places[0][0]
            assert {cell for _, cell in places} == cells_of_box(reader, number, np.reshape(shapes[id], (2, 3)))


def reach_of(type, points):
    if type == "ellipsoid":
        return points[0] - points[1], points[0] + points[1]
    return points.min(axis=0), points.max(axis=0)


def cells_of_box(reader, number, corners):
    level = reader.info["spatial"][number]
    ranges = []
    for d in range(3):
        low, side, count = reader.info["lower_bound"][d], level["chunk_size"][d], level["grid_shape"][d]
        first, last = (int(min(max((x - low) // side, 0), count - 1)) for x in sorted(corners[:, d]))
        ranges.append(range(first, last + 1))
    return set(itertools.product(*ranges))


def test_the_values_are_those_of_the_package(tmp_path):
    """Files by id and by segment are the same, byte for byte, where both write files."""
    shapes, values, related = make("point", 40)
    properties = {name: kind for name, kind in PROPERTIES.items() if kind != "uint32"}
    write_by_neuroglancer(tmp_path / "theirs", "point", shapes, values, related, range(40), properties)
    annotations.write(
        tmp_path / "ours",
        shapes,
        {name: values[name] for name in properties},
        {"segments": related},
        dimensions=DIMENSIONS,
        unsharded=True,
    )
    for folder in ("by_id", "rel_segments"):
        names = sorted(path.name for path in (tmp_path / "theirs" / folder).iterdir())
        assert names == sorted(path.name for path in (tmp_path / "ours" / folder).iterdir())
        for name in names:
            theirs = (tmp_path / "theirs" / folder / name).read_bytes()
            assert (tmp_path / "ours" / folder / name).read_bytes() == theirs, (folder, name)
    theirs = json.loads((tmp_path / "theirs" / "info").read_text())
    ours = json.loads((tmp_path / "ours" / "info").read_text())
    for member in ("@type", "dimensions", "annotation_type", "by_id", "lower_bound", "upper_bound"):
        assert ours[member] == theirs[member]


REAL = pathlib.Path(__file__).parents[3] / "shared" / "data" / "cloud-volume" / "test_precomputed_annotation"


@pytest.mark.skipif(not REAL.exists(), reason="data of other projects are not in the repository")
def test_real_annotations_are_read():
    source = annotations.open(REAL)
    assert source.type == "point" and len(source.info["spatial"]) == 12
    assert list(source.ids()) == [3867588737]
    found = source.get(source.ids())
    assert found.array["class_label"][0] in source.info["properties"][0]["enum_values"]
    assert len(source.related("skeleton_id", 243895108)) > 0
    assert len(source.query(source.info["lower_bound"], source.info["upper_bound"], levels=1)) > 0
