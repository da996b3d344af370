#!/usr/bin/env python3
"""Xet: chunking and hashing against hf_xet, the store against restic and borg.

    ./dev bench xet [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/xet.json and xet.svg. README.md beside this file says
what is measured and how.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess

import cas_jobs
import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
JOBS = HERE / "xet_jobs.py"

LARGE = 2 << 30
SMALL_FILES = 20_000


def interleaved(bench, job, systems, **arguments):
    """Runs the job for each system in turn, again and again; the median time of each."""
    times = {system: [] for system in systems}
    results = {}
    for _ in range(bench.options.repeat):
        for system in systems:
            run = measure.run(JOBS, job, system=system, **arguments)
            times[system].append(run.result["seconds"])
            results[system] = run.result
    bench.details += [
        {"job": job, "system": system, "seconds": seconds} for system, seconds in times.items()
    ]
    return {system: statistics.median(seconds) for system, seconds in times.items()}, results


def kernels(bench):
    """One core, in memory: the C++ benchmark program."""
    if not bench.wants("kernels"):
        return
    for command in (["cmake", "--preset", "bench"],
                    ["cmake", "--build", "--preset", "bench", "--target", "xet_benchmark"]):
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    done = subprocess.run(
        [ROOT / "build/bench/xet_benchmark", "--benchmark_format=json",
         f"--benchmark_repetitions={max(3, bench.options.repeat)}",
         "--benchmark_report_aggregates_only=true"],
        check=True, capture_output=True, text=True)
    targets = {"CutAndHash/1/real_time": 1.6}
    best = "GearScan/0"
    for row in json.loads(done.stdout)["benchmarks"]:
        if row["aggregate_name"] != "median":
            continue
        name, rate = row["run_name"], row["bytes_per_second"] / 1e9
        bench.details.append({"job": name, "label": row.get("label"), "gb_per_second": rate})
        if name.startswith("GearScan"):
            best = max(best, name)
            continue
        bench.add(f"kernels: {name}", rate, "GB/s", target=targets.get(name),
                  met=rate >= targets[name] if name in targets else None)
    for detail in bench.details:
        if str(detail["job"]).startswith("GearScan"):
            rate = detail["gb_per_second"]
            is_best = detail["job"] == best
            bench.add(f"kernels: gear scan, {detail['label']}", rate, "GB/s",
                      target=3 if is_best else None, met=rate >= 3 if is_best else None)


def hashing(bench, where):
    systems = ["dolium", "hf_xet"]
    name = "file hash of one large file"
    if bench.wants(name):
        path = where / "large"
        size = bench.count(LARGE)
        measure.run(JOBS, "make_large", path=str(path), size=size)
        times, results = interleaved(bench, "hash", systems, paths=[str(path)])
        assert results["dolium"]["hashes"] == results["hf_xet"]["hashes"]
        bench.add_ratio(f"{name}, {size >> 20} MiB", "GB/s", size / times["dolium"] / 1e9,
                        "hf_xet", size / times["hf_xet"] / 1e9, at_least=2)
        path.unlink()
    name = "file hash of many small files"
    if bench.wants(name):
        folder = where / "small"
        count = bench.count(SMALL_FILES)
        made = measure.run(JOBS, "make_small", folder=str(folder), count=count).result
        times, results = interleaved(bench, "hash_folder", systems, folder=str(folder),
                                     count=count)
        assert results["dolium"]["digest"] == results["hf_xet"]["digest"]
        bench.add_ratio(f"{name}, {count:,} of {made['bytes'] // count // 1000} kB", "1/s",
                        count / times["dolium"], "hf_xet", count / times["hf_xet"],
                        at_least=1.3)
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default="/dev/shm", help="folder for the files [/dev/shm]")
    options = parser.parse_args()
    where = pathlib.Path(options.where) / "dolium-bench-xet"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    os.environ["HF_XET_CACHE"] = str(where / "hf-cache")
    os.environ["HF_XET_TELEMETRY_ENABLED"] = "0"
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where)}
    report.print_header()
    try:
        kernels(bench)
        hashing(bench, where)
        cas_jobs.measure_store(bench, where)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    bench.save("xet", "Xet", machine, ("hf-xet",))


if __name__ == "__main__":
    main()
