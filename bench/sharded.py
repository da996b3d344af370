#!/usr/bin/env python3
"""The sharded format: dolium against TensorStore and cloud-volume, one machine, one run.

    ./dev bench sharded [--quick] [--where DIR ...] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/sharded.json and sharded.svg. README.md beside this file
says what is measured and how.
"""

import argparse
import pathlib
import shutil
import sys

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "sharded_jobs.py"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def spec(preshift, minishard, shard, hash="murmurhash3_x86_128", index="raw", data="raw"):
    return {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": hash,
        "preshift_bits": preshift,
        "minishard_bits": minishard,
        "shard_bits": shard,
        "minishard_index_encoding": index,
        "data_encoding": data,
    }


# --- cases ----------------------------------------------------------------------------------


def gets(bench, where):
    cases = (
        # name, chunk bytes, chunks, gets, at least, of cloud-volume
        ("4 KiB", 4 * KIB, 100_000, 100_000, 20_000, 2_000),
        ("256 KiB", 256 * KIB, 2_000, 10_000, 2_000, 1_000),
    )
    for name, size, count, number, least, few in cases:
        for data in ("raw", "gzip"):
            if not bench.wants(f"get {name} {data}"):
                continue
            folder = where / "get"
            remove(folder)
            sharding = spec(0, 5, 2, data=data)
            kind = "random" if data == "raw" else "labels"
            one = {"folder": str(folder), "spec": sharding, "count": count}
            measure.run(JOBS, "make", size=size, kind=kind, **one)
            number_here = max(bench.count(number), least)
            get_cases(bench, f"get {name} {data}", one, number_here, max(200, bench.count(few)))
            remove(folder)


def rate(run):
    return run.result["gets"] / run.result["seconds"]


def get_cases(bench, name, one, number, few):
    staleness = {"fresh": {"mode": "fresh"}, "stale": {"mode": "stale"}}
    ours = rate(bench.repeat("get", library="dolium", gets=number, batch=1, **one))
    setting, theirs = bench.best(
        staleness, "get", library="tensorstore", gets=number, batch=1, **one
    )
    bench.add_ratio(name, "1/s", ours, f"TensorStore ({setting})", rate(theirs), at_least=3)
    theirs = rate(bench.repeat("get", library="cloud-volume", gets=few, batch=1, **one))
    bench.add_ratio(name, "1/s", ours, "cloud-volume", theirs, at_least=20)

    batch = 1000
    name = f"{name}, batches of 1,000"
    ours = rate(bench.repeat("get", library="dolium", gets=number, batch=batch, **one))
    setting, theirs = bench.best(
        staleness, "get", library="tensorstore", gets=number, batch=batch, **one
    )
    bench.add_ratio(name, "1/s", ours, f"TensorStore ({setting})", rate(theirs), at_least=3)
    theirs = rate(bench.repeat("get", library="cloud-volume", gets=batch, batch=batch, **one))
    bench.add_ratio(name, "1/s", ours, "cloud-volume", theirs)


def writes(bench, where):
    place = measure.file_system(where)
    cases = (
        # name, count, bytes, order, spec, TensorStore's transactions, target, cloud-volume too
        ("1 KiB", 1_000_000, KIB, "ascending", spec(0, 6, 4), ("one",), 3, True),
        (
            *("256 KiB, shard order", 20_000, 256 * KIB, "ascending"),
            *(spec(6, 3, 6, "identity"), ("one", "per shard"), 1.5, True),
        ),
        (
            *("256 KiB, random order", 20_000, 256 * KIB, "random"),
            *(spec(6, 3, 6, "identity"), ("one",), 1, False),
        ),
    )
    for name, count, size, order, sharding, transactions, target, cloud_volume in cases:
        count = bench.count(count)
        name = f"write {count:,} x {name} ({place})"
        if not bench.wants(name):
            continue
        if place == "tmpfs" and measure.available_memory() < 3.5 * count * size:
            print(f"{name}: left out, for there is too little memory")
            continue
        folder = where / "write"
        clear = {"before": lambda: remove(folder), "after": lambda: remove(folder)}
        one = {"folder": str(folder), "spec": sharding, "count": count, "size": size}
        one |= {"order": order, **clear}
        ours = bench.repeat("write", library="dolium", **one)
        settings = {f"{t} transaction": {"transactions": t} for t in transactions}
        setting, theirs = bench.best(settings, "write", library="tensorstore", **one)
        megabytes = count * size / 1e6
        peer = f"TensorStore ({setting})"
        bench.add_ratio(
            name, "MB/s", megabytes / ours.result["seconds"], peer,
            megabytes / theirs.result["seconds"], at_least=target,
        )
        bench.add_ratio(
            f"{name}: peak RssAnon", "MiB", ours.peak_anon / MIB, peer, theirs.peak_anon / MIB,
            at_most=0.25,
        )
        if cloud_volume:
            theirs = bench.repeat("write", library="cloud-volume", **one)
            bench.add_ratio(
                name, "MB/s", megabytes / ours.result["seconds"], "cloud-volume",
                megabytes / theirs.result["seconds"],
            )


def one_large_shard(bench, where):
    count = bench.count(32_768)
    name = f"write one shard of {count * 256 / KIB / KIB:.3g} GiB"
    if not bench.wants(name):
        return
    folder = where / "large"
    remove(folder)
    run = measure.run(
        JOBS, "write", library="dolium", folder=str(folder), spec=spec(0, 6, 0), count=count,
        size=256 * KIB, order="random",
    )
    assert [path.name for path in folder.glob("*.shard")] == ["0.shard"]
    remove(folder)
    rate = count * 256 * KIB / 1e6 / run.result["seconds"]
    bench.add(f"{name} ({measure.file_system(where)})", rate, "MB/s")
    for label, peak in (("RssAnon", run.peak_anon), ("resident", run.peak_resident)):
        bench.add(
            f"{name}: peak {label}", peak / MIB, "MiB", target=512, met=peak <= 512 * MIB
        )


def first_read(bench, where):
    count = bench.count(10_000_000)
    name = f"first read of {count:,} entries"
    if not bench.wants(name):
        return
    folder = where / "many"
    remove(folder)
    # 8,192 minishards: about 1,220 entries each, and with this hash none near 2,500.
    sharding = spec(0, 10, 3, index="gzip") if bench.scale == 1 else spec(0, 6, 3, index="gzip")
    measure.run(JOBS, "make_many", folder=str(folder), spec=sharding, count=count)
    requests = measure.run(JOBS, "count_requests", folder=str(folder), count=count).result
    for label, target in (("cold", 3), ("warm", 1)):
        worst = max(requests[label])
        bench.add(f"{name}: range reads, {label}", worst, "", target=target, met=worst <= target)
    times = measure.run(JOBS, "first_get", folder=str(folder), count=count, times=51).result
    milliseconds = measure.median(times["seconds"]) * 1e3
    bench.details.append({"job": "first_get", "count": count, "seconds": times["seconds"]})
    bench.add(f"{name}: time", milliseconds, "ms", target=1, met=milliseconds < 1)
    remove(folder)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    report.add_arguments(parser)
    parser.add_argument(
        "--where", nargs="+", type=pathlib.Path, metavar="DIR",
        help="where to write [/dev/shm and build/bench-data]; the last is used for reading",
    )
    options = parser.parse_args()
    folders = options.where or [pathlib.Path("/dev/shm"), HERE.parent / "build" / "bench-data"]
    folders = [folder / "dolium-bench" for folder in folders]
    machine = measure.machine()
    bench = report.Bench(options, JOBS)
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(
        "TensorStore: 1 GiB cache pool for reads, fsync as by default; cloud-volume: no fsync. "
        f"Medians of {options.repeat}.\n"
    )
    report.print_header()
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        gets(bench, folders[-1])
        for folder in folders:
            writes(bench, folder)
        one_large_shard(bench, folders[-1])
        first_read(bench, folders[-1])
    finally:
        for folder in folders:
            remove(folder)
    title = "Sharded format: dolium against its peers"
    bench.save("sharded", title, machine, ("tensorstore", "cloud-volume"))


if __name__ == "__main__":
    sys.exit(main())
