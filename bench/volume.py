#!/usr/bin/env python3
"""Volumes: dolium against TensorStore, cloud-volume, compressed-segmentation and tinybrain.

    ./dev bench volume [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/volume.json and volume.svg. README.md beside this file
says what is measured and how.
"""

import argparse
import os
import pathlib
import shutil
import sys

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "volume_jobs.py"
MIB = 1 << 20
# Shards of 512^3 voxels in a grid of 16 x 16 x 8 chunks.
SHARDING = {
    "@type": "neuroglancer_uint64_sharded_v1",
    "hash": "identity",
    "preshift_bits": 9,
    "minishard_bits": 0,
    "shard_bits": 2,
    "minishard_index_encoding": "gzip",
    "data_encoding": "gzip",
}


def codecs(bench):
    kinds = ["dense", "sparse"] + (["real"] if "DOLIUM_REAL_LABELS" in os.environ else [])
    voxels = 8 * 64**3 / 1e6
    for kind in kinds:
        for dtype in ("uint32", "uint64"):
            for operation in ("encode", "decode"):
                name = f"compressed_segmentation {operation}, {kind} {dtype}"
                if not bench.wants(name):
                    continue
                one = {"operation": operation, "kind": kind, "dtype": dtype}
                ours = voxels / bench.repeat("codec", library="dolium", **one).result["seconds"]
                for peer in ("compressed-segmentation", "TensorStore"):
                    run = bench.repeat("codec", library=peer.lower(), **one)
                    rate = voxels / run.result["seconds"]
                    bench.add_ratio(name, "Mvx/s", ours, peer, rate, at_least=3)


def volumes(bench, where):
    shape = [1024, 1024, 512 if bench.scale == 1 else 256]
    gigabytes = shape[0] * shape[1] * shape[2] * 8 / 1e9
    name = f"volume {'x'.join(map(str, shape))} uint64"
    if not bench.wants(name):
        return
    sharding = dict(SHARDING)
    if bench.scale != 1:
        sharding |= {"shard_bits": 1}
    source, folder, other = where / "labels.npy", where / "volume", where / "other"
    measure.run(JOBS, "make_labels", path=str(source), shape=shape, size=40)
    one = {"source": str(source), "sharding": sharding}

    def write(library, into, **more):
        return bench.repeat(
            "write", before=lambda: remove(into), library=library, folder=str(into), **one, **more
        )

    ours = write("dolium", folder)
    ways = {f"written {way}": {"way": way} for way in ("whole", "by shard")}
    runs = [(way, write("tensorstore", other, **more)) for way, more in ways.items()]
    way, theirs = min(runs, key=lambda run: run[1].result["seconds"])
    rate = gigabytes / ours.result["seconds"]
    label = f"{name}: write"
    peer = f"TensorStore ({way})"
    bench.add_ratio(label, "GB/s", rate, peer, gigabytes / theirs.result["seconds"], at_least=2)
    bench.add(f"{label}: peak RssAnon", ours.peak_anon / MIB, "MiB", target=1024,
              met=ours.peak_anon <= 1024 * MIB)
    bench.add_ratio(f"{label}: peak RssAnon", "MiB", ours.peak_anon / MIB, peer,
                    theirs.peak_anon / MIB, at_most=1)
    theirs = write("cloud-volume", other)
    bench.add_ratio(label, "GB/s", rate, "cloud-volume", gigabytes / theirs.result["seconds"],
                    at_least=10)
    remove(other)
    reads(bench, name, gigabytes, source, folder)


def reads(bench, name, gigabytes, source, folder):
    one = {"folder": str(folder)}
    runs = {
        library: bench.repeat("read_all", library=library, source=str(source), **one)
        for library in ("dolium", "tensorstore")
    }
    rates = {library: gigabytes / run.result["seconds"] for library, run in runs.items()}
    bench.add_ratio(f"{name}: read all", "GB/s", rates["dolium"], "TensorStore",
                    rates["tensorstore"], at_least=2)
    for side, count, few in ((64, 400, 60), (256, 24, 6)):
        label = f"{name}: random boxes of {side}^3, hot"
        counts = {"dolium": count, "tensorstore": count, "cloud-volume": few}
        rates = {}
        for library, number in counts.items():
            run = bench.repeat("read_boxes", library=library, side=side, count=number, **one)
            rates[library] = number / run.result["seconds"]
        bench.add_ratio(label, "1/s", rates["dolium"], "TensorStore", rates["tensorstore"],
                        at_least=2)
        bench.add_ratio(label, "1/s", rates["dolium"], "cloud-volume", rates["cloud-volume"],
                        at_least=10)


def downsampling(bench):
    voxels = 256**3 / 1e6
    cases = [
        ("mode", dtype, factor) for dtype in ("uint32", "uint64") for factor in ((2, 2, 1), (2, 2, 2))
    ] + [
        ("average", dtype, factor)
        for dtype in ("uint8", "uint16", "float32")
        for factor in ((2, 2, 1), (2, 2, 2))
    ]
    for method, dtype, factor in cases:
        name = f"downsample {method} {'x'.join(map(str, factor))} {dtype}"
        if not bench.wants(name):
            continue
        one = {"method": method, "dtype": dtype, "factor": factor}
        rates = {
            library: voxels / bench.repeat("downsample", library=library, **one).result["seconds"]
            for library in ("dolium", "tinybrain")
        }
        bench.add_ratio(name, "Mvx/s", rates["dolium"], "tinybrain", rates["tinybrain"],
                        at_least=2)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


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
    print(f"Codecs and downsampling on one thread, volumes on all. Medians of {options.repeat}.\n")
    report.print_header()
    try:
        where.mkdir(parents=True, exist_ok=True)
        codecs(bench)
        downsampling(bench)
        volumes(bench, where)
    finally:
        remove(where)
    peers = ("tensorstore", "cloud-volume", "compressed_segmentation", "tinybrain")
    bench.save("volume", "Volumes: dolium against its peers", machine, peers)


if __name__ == "__main__":
    sys.exit(main())
