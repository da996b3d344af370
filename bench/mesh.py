#!/usr/bin/env python3
"""Meshes: dolium against zmesh and igneous.

    ./dev bench mesh [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/mesh.json and mesh.svg. README.md beside this file says what
is measured and how.
"""

import argparse
import os
import pathlib
import shutil
import sys

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "mesh_jobs.py"
MIB = 1 << 20
RESOLUTION = [4, 4, 40]
ERROR = 40


def surfaces(bench, labels, voxels):
    """Marching cubes, with and without simplification, of an array in memory."""
    for error, what in ((0, "marching cubes"), (ERROR, "marching cubes, simplified")):
        name = f"{what}, one thread"
        if not bench.wants(name):
            continue
        one = {"labels": str(labels), "resolution": RESOLUTION, "error": error}
        ours = bench.repeat("surfaces", library="dolium", jobs=1, **one)
        theirs = bench.repeat("surfaces", library="zmesh", jobs=1, **one)
        rate = voxels / ours.result["seconds"]
        bench.add_ratio(name, "Mvx/s", rate, "zmesh", voxels / theirs.result["seconds"],
                        at_least=1.5 if error else None)
        bench.add_ratio(f"{name}: triangles", "M", ours.result["triangles"] / 1e6, "zmesh",
                        theirs.result["triangles"] / 1e6)
        bench.add_ratio(f"{name}: peak RSS", "MiB", ours.peak_resident / MIB, "zmesh",
                        theirs.peak_resident / MIB)
        cores = os.cpu_count()
        if error and cores > 1:
            all_cores = bench.repeat("surfaces", library="dolium", jobs=cores, **one)
            bench.add_ratio(f"{what}, {cores} threads", "Mvx/s",
                            voxels / all_cores.result["seconds"], "dolium, one thread", rate)


def pipeline(bench, labels, where, voxels):
    """From a volume to sharded multi-resolution meshes."""
    processes = os.cpu_count()
    name = f"volume to sharded multi-resolution, {processes} at once"
    if not bench.wants(name):
        return
    volume = where / "volume"
    measure.run(JOBS, "make_volume", labels=str(labels), volume=str(volume),
                resolution=RESOLUTION)
    one = {"volume": str(volume), "error": ERROR, "processes": processes}
    runs = {}
    for library in ("dolium", "igneous"):
        runs[library] = bench.repeat(
            "pipeline", before=lambda: forget_meshes(volume), library=library, **one
        )
    ours, theirs = runs["dolium"], runs["igneous"]
    bench.add_ratio(name, "Mvx/s", voxels / ours.result["seconds"], "igneous",
                    voxels / theirs.result["seconds"], at_least=4)
    bench.add_ratio(f"{name}: peak RSS", "MiB", ours.result["peak_resident"] / MIB,
                    "igneous (largest process)", theirs.result["peak_resident"] / MIB)
    bench.add_ratio(f"{name}: bytes", "MB", ours.result["bytes"] / 1e6, "igneous",
                    theirs.result["bytes"] / 1e6)


def forget_meshes(volume):
    measure.run(JOBS, "forget_meshes", volume=str(volume))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    report.add_arguments(parser)
    parser.add_argument(
        "--where", type=pathlib.Path, metavar="DIR", default=HERE.parent / "build" / "bench-data",
        help="where to write [build/bench-data]",
    )
    options = parser.parse_args()
    where = options.where / "dolium-bench"
    machine = measure.machine()
    bench = report.Bench(options, JOBS)
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(f"Medians of {options.repeat}.\n")
    report.print_header()
    side = 512 if bench.scale == 1 else 192
    labels = where / "labels.npy"
    try:
        where.mkdir(parents=True, exist_ok=True)
        measure.run(JOBS, "make_labels", path=str(labels), side=side)
        voxels = side**3 / 1e6
        surfaces(bench, labels, voxels)
        pipeline(bench, labels, where, voxels)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    peers = ("zmesh", "igneous-pipeline", "cloud-volume")
    bench.save("mesh", "Meshes: dolium against its peers", machine, peers)


if __name__ == "__main__":
    sys.exit(main())
