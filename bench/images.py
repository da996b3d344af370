#!/usr/bin/env python3
"""JPEG images of training sets, decoded in batches, against torchvision, Pillow and simplejpeg.

    ./dev bench images [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/images.json and images.svg. torchvision is Debian's
python3-torchvision; without it and the environment of the tests with torch, it is left out.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
JOBS = HERE / "images_jobs.py"
TORCH_PYTHON = ROOT / "build" / "venv-torch" / "bin" / "python"

PHOTOS = 512


def has_torchvision():
    if not TORCH_PYTHON.exists():
        return False
    asked = subprocess.run([TORCH_PYTHON, "-c", "import torchvision, dolium"], capture_output=True)
    return asked.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default=str(ROOT / "build" / "bench-data"),
                        help="folder for the photos [build/bench-data]")
    options = parser.parse_args()
    with_torch = has_torchvision()
    # All that can run there have the same interpreter.
    python = str(TORCH_PYTHON) if with_torch else sys.executable
    peers = {"torchvision": python} if with_torch else {}
    peers |= {"pillow": python, "simplejpeg": sys.executable}
    where = pathlib.Path(options.where) / "dolium-bench-images"
    shutil.rmtree(where, ignore_errors=True)
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where.parent)}
    report.print_header()
    try:
        count = bench.count(PHOTOS)
        made = measure.run(JOBS, "make", python=python, path=str(where), count=count)
        size = made.result["bytes_each"] / 1e3
        for threads, words in ((1, "one thread"), (0, f"{os.cpu_count()} threads")):
            name = f"photos of 500 x 375, {size:.0f} kB, {words}"
            if not bench.wants(name):
                continue
            times = {system: [] for system in ("dolium", *peers)}
            processor = {system: [] for system in times}
            for _ in range(options.repeat):
                for system, seconds in times.items():
                    run = measure.run(JOBS, "decode", python=peers.get(system, python),
                                      system=system, path=str(where), threads=threads)
                    seconds.append(run.result["seconds"])
                    processor[system].append(run.result["processor_each"] * 1e3)
            bench.details.append({"job": "decode", "threads": threads, "seconds": times})
            rates = {system: count / statistics.median(found) for system, found in times.items()}
            for system in peers:
                target = 1 if system == "torchvision" else None
                bench.add_ratio(name, "1/s", rates["dolium"], system, rates[system],
                                at_least=target)
            for system in peers:
                bench.add_ratio(f"{name}: processor time of each", "ms",
                                statistics.median(processor["dolium"]), system,
                                statistics.median(processor[system]))
    finally:
        shutil.rmtree(where, ignore_errors=True)
    bench.save("images", "JPEG", machine, ("pillow", "simplejpeg"))


if __name__ == "__main__":
    main()
