#!/usr/bin/env python3
"""Point annotations with three properties: writing them, spatially indexed and sharded, against the
writer of the neuroglancer package, and reading boxes.

    ./dev bench annotations [--quick] [--where DIR] [--count N] [--peer-count N]

Prints a table and leaves bench/results/annotations.md. The package makes one file for each annotation
and one cell for all; it is given fewer of them, and times are for each annotation.
"""

import argparse
import pathlib
import shutil

import measure

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "annotations_jobs.py"
RESULTS = HERE / "results" / "annotations.md"
TARGET = 10
ARRAY_BYTES = 19  # of an annotation: three coordinates, float32, uint16, uint8


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of them, and no file of results")
    parser.add_argument("--where", default=str(HERE.parent / "build" / "bench-data"),
                        help="folder for what is written [build/bench-data]")
    parser.add_argument("--count", type=int, default=10_000_000, help="annotations [10000000]")
    parser.add_argument("--peer-count", type=int, default=50_000, help="of the package [50000]")
    options = parser.parse_args()
    count = options.count // 100 if options.quick else options.count
    peer_count = options.peer_count // 10 if options.quick else options.peer_count
    where = pathlib.Path(options.where) / "dolium-bench-annotations"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    machine = measure.machine() | {"file_system": measure.file_system(where)}
    lines = ["| what | annotations | seconds | microseconds each | peak memory |", "|---|---|---|---|---|"]

    def add(what, number, measured):
        seconds = measured.result["seconds"]
        lines.append(
            f"| {what} | {number:,} | {seconds:.1f} | {seconds / number * 1e6:.2f} "
            f"| {measured.peak_anon / 1e6:.0f} MB |"
        )
        print(lines[-1], flush=True)
        return seconds / number

    print(*lines, sep="\n")
    try:
        ours = str(where / "ours")
        # What the arrays take, which both are given.
        mine = add("write: dolium", count,
                   measure.run(JOBS, "write-dolium", count=count, folder=ours, jobs=0))
        theirs = add("write: neuroglancer package", peer_count,
                     measure.run(JOBS, "write-neuroglancer", count=peer_count, folder=str(where / "theirs"), jobs=0))
        read = measure.run(JOBS, "read-boxes", folder=ours, boxes=20, jobs=0)
        add("read: 20 boxes of a thousandth of the volume", max(1, read.result["found"]), read)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    ratio = theirs / mine
    verdict = "met" if ratio >= TARGET else "MISSED"
    lines += ["", f"Per annotation, dolium writes {ratio:.1f} times as fast; target {TARGET}: {verdict}."]
    print(lines[-1])
    lines[-1] += f" Of its memory, {count * ARRAY_BYTES / 1e6:.0f} MB are the arrays that it is given."
    if not options.quick:
        facts = ", ".join(f"{name}: {value}" for name, value in machine.items())
        RESULTS.write_text("# Annotations\n\n" + "\n".join(lines) + f"\n\nMeasured on {facts}.\n")


if __name__ == "__main__":
    main()
