#!/usr/bin/env python3
"""Skeletons of labels in memory, against kimimaro.

    ./dev bench skeleton [--quick] [--where DIR] [--only WORD] [--repeat N] [--side N]

Prints a table and leaves bench/results/skeleton.json and skeleton.svg. The labels are those of
real tissue in ../shared/data where they are there and crackle-codec can decode them, else
generated ones.
"""

import argparse
import os
import pathlib
import shutil

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
JOBS = HERE / "skeleton_jobs.py"
SYSTEMS = ("dolium", "kimimaro")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default=str(ROOT / "build" / "bench-data"),
                        help="folder for the labels [build/bench-data]")
    parser.add_argument("--side", type=int, default=256, help="of the cube of labels [256]")
    options = parser.parse_args()
    where = pathlib.Path(options.where) / "dolium-bench-skeleton"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where)}
    report.print_header()
    try:
        side = options.side // 2 if options.quick else options.side
        made = measure.run(JOBS, "make", path=str(where / "labels.npy"), side=side,
                           source=str(ROOT.parent / "shared" / "data"))
        megavoxels = side**3 / 1e6
        for jobs in (1, os.cpu_count()):
            name = f"{made.result['source']} labels, {side}^3, {jobs} " + (
                "process" if jobs == 1 else "threads or processes")
            if not bench.wants(name):
                continue
            runs = {system: bench.repeat("trace", system=system, path=str(where / "labels.npy"),
                                         jobs=jobs) for system in SYSTEMS}
            ours, theirs = (runs[system] for system in SYSTEMS)
            bench.add_ratio(name, "Mvoxel/s", megavoxels / ours.result["seconds"], "kimimaro",
                            megavoxels / theirs.result["seconds"], at_least=1.5)
            bench.add_ratio(f"{name}: peak memory", "MB", ours.peak_anon / 1e6, "kimimaro",
                            theirs.peak_anon / 1e6)
            for what in ("length", "length_of_all_but_the_largest"):
                bench.add_ratio(f"{name}: {what.replace('_', ' ')}", "um", ours.result[what] / 1e3,
                                "kimimaro", theirs.result[what] / 1e3)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    bench.save("skeleton", "Skeletons", machine, ("kimimaro",))


if __name__ == "__main__":
    main()
