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
SEQUENTIAL = {"lmdb_split": 1, "lmdb": 1, "webdataset": 20, "mds": None, "litdata": None,
              "array_record": None, "files": None}
RANDOM = {"lmdb_split": 1, "lmdb": 1, "mds": 8, "litdata": None, "array_record": None,
          "files": None}
NAMES = {"lmdb": "lmdb (whole values)", "lmdb_split": "lmdb (files)",
         "lmdb_buffers": "lmdb (buffers)"}


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


def written(bench, where, kind, count):
    """The median time to write the set."""
    times = []
    for _ in range(max(3, bench.options.repeat)):
        path = where / "written"
        run = measure.run(JOBS, "make", system="shardpack", kind=kind, count=count,
                          path=str(path))
        times.append(run.result["seconds"])
        shutil.rmtree(path)
    bench.details.append({"job": "write", "kind": kind, "seconds": times})
    return statistics.median(times)


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
    rate = ours["raw"] / written(bench, where, kind, count) / 1e9
    is_target = kind != "text"
    bench.add(f"{kind}: write from memory", rate, "GB/s", target=1 if is_target else None,
              met=rate >= 1 if is_target else None)
    for system, size in sizes.items():
        if system != "shardpack":
            bench.add_ratio(f"{kind}: bytes on disk", "MB", ours["stored"] / 1e6, system,
                            size["stored"] / 1e6)

    def path_of(system):
        for name in ("shardpack", "lmdb"):
            if system.startswith(name):
                return str(paths[name])
        return str(paths.get(system))

    for order, wanted in (("sequential", SEQUENTIAL), ("random", RANDOM)):
        name = f"{kind}, {order}"
        if not bench.wants(name):
            continue
        # A sample of one file is a value as it is.
        skipped = {"lmdb_split"} if kind == "text" else set()
        own = ["shardpack", "shardpack_heads", "shardpack_records", "shardpack_batched",
               "shardpack_view"]
        asked = [peer for peer in wanted
                 if peer not in skipped and path_of(peer) in map(str, paths.values())]
        times = interleaved(bench, "read", [*own, "lmdb_buffers", *asked], path=path_of,
                            order=order, count=count)
        rates = {system: count / seconds for system, seconds in times.items()}

        def row(what, system, peer, target):
            bench.add_ratio(f"{name}: {what}", "1/s", rates[system], NAMES.get(peer, peer),
                            rates[peer], at_least=target if kind == "image" else None)

        for peer in asked:
            row("one by one, checked", "shardpack", peer, wanted[peer])
        row("one by one, heads checked", "shardpack_heads", "lmdb", None)
        row("records, checked", "shardpack_records", "lmdb", None)
        for peer in asked:
            if peer.startswith("lmdb"):
                row("batches of 64, checked", "shardpack_batched", peer, 1.5)
        row("views", "shardpack_view", "lmdb_buffers", 1)
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
    parser.add_argument("--where", default=str(ROOT / "build" / "bench-data"),
                        help="folder for the sets [build/bench-data]")
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
