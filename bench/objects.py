#!/usr/bin/env python3
"""Meshes and skeletons of a sharded source, read in batches, against cloud-volume.

    ./dev bench objects [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/objects.json and objects.svg. dolium writes the sets, of
10,000 meshes and as many skeletons, and both read them, by ids in random order, all that there
are (cloud-volume at most 500: what counts is objects in a second).
"""

import argparse
import pathlib
import shutil

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "objects_jobs.py"
OBJECTS = 10_000
THEIRS = 500
TARGET = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default=str(HERE.parent / "build" / "bench-data"),
                        help="folder for the sets [build/bench-data]")
    options = parser.parse_args()
    where = pathlib.Path(options.where) / "dolium-bench-objects"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where.parent)}
    report.print_header()
    try:
        count = bench.count(OBJECTS)
        measure.run(JOBS, "make", path=str(where), count=count)
        for kind, words in (
            ("skeleton", "skeletons of 200 vertices"),
            ("mesh", "meshes of 1,000 triangles"),
        ):
            name = f"{count:,} {words}, sharded"
            if not bench.wants(name):
                continue
            ours = bench.repeat("read", system="dolium", kind=kind, path=str(where), most=count)
            theirs = bench.repeat(
                "read", system="cloud-volume", kind=kind, path=str(where), most=min(count, THEIRS)
            )
            rates = [run.result["count"] / run.result["seconds"] for run in (ours, theirs)]
            bench.add_ratio(name, "1/s", rates[0], "cloud-volume", rates[1], at_least=TARGET)
            memory = [run.peak_anon / 2**20 for run in (ours, theirs)]
            bench.add_ratio(f"{name}: memory", "MiB", memory[0], "cloud-volume", memory[1])
    finally:
        shutil.rmtree(where, ignore_errors=True)
    bench.save("objects", "Meshes and skeletons", machine, ("cloud-volume",))


if __name__ == "__main__":
    main()
