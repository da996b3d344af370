#!/usr/bin/env python3
"""ShardPack against WebDataset, MDS, LitData, ArrayRecord, LMDB and plain files.

    ./dev bench pack [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/pack.json and pack.svg. README.md beside this file says
what is measured and how.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
JOBS = HERE / "pack_jobs.py"
TORCH_PYTHON = ROOT / "build" / "venv-torch" / "bin" / "python"
NEEDS_TORCH = {"mds", "litdata"}

SETS = {"text": 200_000, "image": 20_000, "blob": 20}
# Who is asked for what, with the ratio that we want to reach over each.
SEQUENTIAL = {"lmdb": 1, "webdataset": 20, "mds": None, "litdata": None, "array_record": None,
              "files": None}
RANDOM = {"lmdb": 1, "mds": 8, "litdata": None, "array_record": None, "files": None}


def python_for(system):
    return str(TORCH_PYTHON) if system in NEEDS_TORCH else sys.executable


def interleaved(bench, job, systems, **arguments):
    """Runs the job for each system in turn, again and again; the median time of each."""
    times = {system: [] for system in systems}
    for _ in range(bench.options.repeat):
        for system in systems:
            more = {name: value(system) if callable(value) else value
                    for name, value in arguments.items()}
            run = measure.run(JOBS, job, python=python_for(system), system=system, **more)
            times[system].append(run.result["seconds"])
    bench.details += [
        {"job": job, "system": system, "order": arguments.get("order"), "seconds": seconds}
        for system, seconds in times.items()
    ]
    return {system: statistics.median(seconds) for system, seconds in times.items()}


def reading(bench, where, kind, count):
    names = [f"{kind}, sequential", f"{kind}, random"]
    if not any(bench.wants(name) for name in names):
        return
    peers = ["lmdb", "webdataset", "mds", "litdata", "array_record", "files"]
    if not TORCH_PYTHON.exists():
        peers = [peer for peer in peers if peer not in NEEDS_TORCH]
    paths = {system: where / f"{kind}-{system}" for system in ["shardpack", *peers]}
    sizes = {}
    for system, path in paths.items():
        shutil.rmtree(path, ignore_errors=True)
        run = measure.run(JOBS, "make", python=python_for(system), system=system, kind=kind,
                          count=count, path=str(path))
        sizes[system] = run.result
    ours = sizes["shardpack"]
    bench.add(f"{kind}: write from memory", ours["raw"] / ours["seconds"] / 1e9, "GB/s",
              target=1 if kind != "text" else None,
              met=ours["raw"] / ours["seconds"] >= 1e9 if kind != "text" else None)
    for system, size in sizes.items():
        if system != "shardpack":
            bench.add_ratio(f"{kind}: bytes on disk", "MB", ours["stored"] / 1e6, system,
                            size["stored"] / 1e6)

    def path_of(system):
        name = "shardpack" if system.startswith("shardpack") else system
        return str(paths["lmdb" if name.startswith("lmdb") else name])

    for order, wanted in (("sequential", SEQUENTIAL), ("random", RANDOM)):
        name = f"{kind}, {order}"
        if not bench.wants(name):
            continue
        own = ["shardpack", "shardpack_heads", "shardpack_batched", "shardpack_view"]
        systems = own + ["lmdb_buffers"] + [peer for peer in wanted if peer in paths]
        times = interleaved(bench, "read", systems, path=path_of, order=order, count=count)
        rates = {system: count / seconds for system, seconds in times.items()}
        for peer, target in wanted.items():
            if peer in rates:
                bench.add_ratio(f"{name}: one by one, checked", "1/s", rates["shardpack"], peer,
                                rates[peer], at_least=target if kind == "image" else None)
        bench.add_ratio(f"{name}: one by one, heads checked", "1/s", rates["shardpack_heads"],
                        "lmdb", rates["lmdb"])
        bench.add_ratio(f"{name}: batches of 64, checked", "1/s", rates["shardpack_batched"],
                        "lmdb", rates["lmdb"], at_least=1.5 if kind == "image" else None)
        bench.add_ratio(f"{name}: views", "1/s", rates["shardpack_view"], "lmdb_buffers",
                        rates["lmdb_buffers"], at_least=1 if kind == "image" else None)
    if kind == "image":
        opened = measure.run(JOBS, "open_shardpack", path=str(paths["shardpack"])).result
        bench.add(f"open, {opened['records']:,} records", opened["seconds"] * 1e3, "ms",
                  target=1, met=opened["seconds"] < 1e-3)
    for path in paths.values():
        shutil.rmtree(path, ignore_errors=True)


def orders(bench):
    if not bench.wants("global order"):
        return
    done = measure.run(JOBS, "global_order", total=10**9).result
    bench.add("global order of 10^9 samples: first", done["seconds"] * 1e6, "us")
    bench.add("global order of 10^9 samples: each", done["per_index"] * 1e9, "ns")
    bench.add("global order of 10^9 samples: memory", done["memory"] / 2**20, "MiB", target=16,
              met=done["memory"] < 16 * 2**20)


def creating(bench, where):
    name = "create from a folder"
    if not bench.wants(name):
        return
    source, target = where / "folder", where / "created"
    shutil.rmtree(source, ignore_errors=True)
    count = bench.count(SETS["image"])
    measure.run(JOBS, "make", system="files", kind="image", count=count, path=str(source))
    times = {"shardpack": [], "tar": []}
    for _ in range(max(3, bench.options.repeat)):
        for tool in times:
            run = measure.run(JOBS, "create_folder", tool=tool, source=str(source / "image"),
                              target=str(target))
            times[tool].append(run.result["seconds"])
    rates = {tool: 2 * count / statistics.median(seconds) for tool, seconds in times.items()}
    bench.details.append({"job": "create_folder", "seconds": times})
    bench.add_ratio(f"{name}, {2 * count:,} files", "1/s", rates["shardpack"], "tar",
                    rates["tar"], at_least=1)
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default="/dev/shm", help="folder for the sets [/dev/shm]")
    options = parser.parse_args()
    where = pathlib.Path(options.where) / "dolium-bench-pack"
    where.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("DOLIUM_PROGRAM", str(ROOT / "build" / "release" / "dolium"))
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where)}
    report.print_header()
    try:
        for kind, count in SETS.items():
            reading(bench, where, kind, bench.count(count))
        orders(bench)
        creating(bench, where)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    peers = ("webdataset", "lmdb", "array_record")
    bench.save("pack", "ShardPack", machine, peers)


if __name__ == "__main__":
    main()
