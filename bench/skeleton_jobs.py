"""Jobs of skeleton.py: each in a process of its own, prints its result as JSON."""

import gzip
import json
import pathlib
import sys
import time

import numpy as np

RESOLUTION = (16, 16, 40)
MIN_VOXELS = 1000


def generated(side):
    """Tubes that wind through a cube, each with a label."""
    labels = np.zeros((side,) * 3, np.uint32)
    grid = np.mgrid[-6:7, -6:7, -3:4]
    ball = np.argwhere(np.hypot(np.hypot(grid[0], grid[1]), 2 * grid[2]) <= 6) - (6, 6, 3)
    source = np.random.default_rng(5)
    for label in range(1, side * 3 // 2):
        place = source.uniform(0, side, 3)
        direction = source.normal(0, 1, 3)
        for _ in range(side):
            direction = direction / np.linalg.norm(direction) + source.normal(0, 0.1, 3)
            place = place + direction
            voxels = np.round(place).astype(int) + ball
            voxels = voxels[((voxels >= 0) & (voxels < side)).all(axis=1)]
            labels[tuple(voxels.T)] = label
    return labels


def make(path, side, source):
    stored = pathlib.Path(source) / "connectomics" / "connectomics.npy.ckl.gz"
    try:
        import crackle

        labels = crackle.decompress(gzip.decompress(stored.read_bytes()))[:side, :side, :side]
        name = "real"
    except (ImportError, FileNotFoundError):
        labels, name = generated(side), "generated"
    np.save(path, np.asfortranarray(labels))
    return {"source": name}


def trace(system, path, jobs):
    labels = np.load(path)
    if system == "dolium":
        import dolium

        start = time.perf_counter()
        made = dolium.skeleton.skeletonize(labels, resolution=RESOLUTION, min_voxels=MIN_VOXELS,
                                           jobs=jobs)
    else:
        import kimimaro

        teasar = {"scale": 1.5, "const": 300, "pdrf_scale": 100000, "pdrf_exponent": 4,
                  "soma_detection_threshold": 1100, "soma_acceptance_threshold": 3500,
                  "soma_invalidation_scale": 2, "soma_invalidation_const": 300}
        start = time.perf_counter()
        made = kimimaro.skeletonize(labels, teasar_params=teasar, anisotropy=RESOLUTION,
                                    dust_threshold=MIN_VOXELS, fix_borders=False, parallel=jobs,
                                    progress=False)
    seconds = time.perf_counter() - start
    lengths = sorted(float(line.cable_length()) for line in made.values())
    return {
        "seconds": seconds,
        "skeletons": len(lengths),
        "length": sum(lengths),
        "length_of_all_but_the_largest": sum(lengths[:-1]),
    }


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
