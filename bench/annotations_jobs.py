"""The jobs of annotations.py: each prints one JSON object as its last line."""

import json
import shutil
import sys
import time

import numpy as np

REACH = 100_000.0


def make_arrays(count):
    rng = np.random.default_rng(5)
    points = rng.uniform(0, REACH, (count, 3)).astype(np.float32)
    # Half of them in clusters, as synapses are.
    half = count // 2
    centers = rng.uniform(0, REACH, (1000, 3))
    near = centers[rng.integers(0, 1000, half)] + rng.normal(0, 500, (half, 3))
    points[:half] = np.clip(near, 0, REACH)
    return points, {
        "score": rng.random(count, np.float32),
        "size": rng.integers(0, 1000, count).astype(np.uint16),
        "kind": rng.integers(0, 5, count).astype(np.uint8),
    }


def write_dolium(count, folder, jobs):
    from dolium import annotations

    points, properties = make_arrays(count)
    shutil.rmtree(folder, ignore_errors=True)
    begin = time.perf_counter()
    report = annotations.write(folder, points, properties, jobs=jobs)
    return {"seconds": time.perf_counter() - begin, "bytes": report["stored_bytes"], "levels": report["levels"]}


def write_neuroglancer(count, folder, jobs):
    import neuroglancer
    from neuroglancer import write_annotations

    points, properties = make_arrays(count)
    shutil.rmtree(folder, ignore_errors=True)
    space = neuroglancer.CoordinateSpace(names=["x", "y", "z"], scales=[1, 1, 1], units="nm")
    kinds = {"score": "float32", "size": "uint16", "kind": "uint8"}
    specs = [neuroglancer.AnnotationPropertySpec(id=name, type=kind) for name, kind in kinds.items()]
    begin = time.perf_counter()
    writer = write_annotations.AnnotationWriter(space, "point", properties=specs)
    score, size, kind = properties["score"], properties["size"], properties["kind"]
    for i, point in enumerate(points):
        writer.add_point(point, score=score[i], size=size[i], kind=kind[i])
    writer.write(folder)
    return {"seconds": time.perf_counter() - begin}


def read_boxes(folder, boxes, jobs):
    from dolium import annotations

    rng = np.random.default_rng(9)
    source = annotations.open(folder)
    found = 0
    begin = time.perf_counter()
    for _ in range(boxes):
        lower = rng.uniform(0, REACH * 0.9, 3)
        found += len(source.query(list(lower), list(lower + REACH / 10), jobs=jobs))
    return {"seconds": time.perf_counter() - begin, "found": found}


JOBS = {"write-dolium": write_dolium, "write-neuroglancer": write_neuroglancer, "read-boxes": read_boxes}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](**json.loads(sys.argv[2]))))
