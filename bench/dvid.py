#!/usr/bin/env python3
"""DVID exports: blocks, and conversion to a volume, against pyarrow, numpy and TensorStore.

    ./dev bench dvid [--quick] [--where DIR] [--only WORD] [--repeat N]

Prints a table and leaves bench/results/dvid.json and dvid.svg. README.md beside this file says
what is measured and how.
"""

import argparse
import pathlib
import shutil

import measure
import report

HERE = pathlib.Path(__file__).resolve().parent
JOBS = HERE / "dvid_jobs.py"
SHAPE = (1024, 1024, 1024)
PEER_SHAPE = (512, 256, 256)  # one task of the peer is slow enough
REPORTED = 80  # blocks per second and task, by the authors of tensorstore-export


def blocks(bench):
    if not bench.wants("block"):
        return
    for kind in ("labels", "dense", "solid"):
        run = bench.repeat("decode", kind=kind)
        rate = run.result["voxels"] / run.result["seconds"] / 1e9
        target = 1 if kind == "labels" else None
        bench.add(f"block, {kind}: decode, one thread", rate, "GV/s", target=target,
                  met=rate >= 1 if target else None)
        peer = bench.repeat("decode_numpy", kind=kind)
        bench.add_ratio(f"block, {kind}: decode, one thread", "GV/s", rate, "numpy",
                        peer.result["voxels"] / peer.result["seconds"] / 1e9)
        run = bench.repeat("encode", kind=kind)
        bench.add(f"block, {kind}: encode, one thread",
                  run.result["voxels"] / run.result["seconds"] / 1e9, "GV/s")


def conversion(bench, where):
    if not bench.wants("convert"):
        return
    shape = (512, 512, 512) if bench.options.quick else SHAPE
    for name, size in (("export", shape), ("small", PEER_SHAPE)):
        shutil.rmtree(where / name, ignore_errors=True)
        measure.run(JOBS, "make", path=str(where / name), shape=size)
    target = where / "target"

    def clear():
        shutil.rmtree(target, ignore_errors=True)

    for encoding in ("gzip", "raw"):
        run = bench.repeat("convert", before=clear, path=str(where / "export"),
                           target=str(target), encoding=encoding)
        rate = run.result["blocks"] / run.result["seconds"]
        peer = bench.repeat("convert_python", before=clear, path=str(where / "small"),
                            target=str(target), encoding=encoding)
        name = f"convert to shards, {encoding}"
        bench.add_ratio(name, "1/s", rate, "pyarrow + numpy + TensorStore",
                        peer.result["blocks"] / peer.result["seconds"], at_least=10)
        bench.add_ratio(name, "1/s", rate, "reported, one task", REPORTED, at_least=20)
        memory = run.peak_resident / 2**20
        bench.add(f"{name}: memory, resident", memory, "MiB", target=1024, met=memory < 1024)
    run = bench.repeat("read", path=str(where / "export"))
    bench.add("convert none: read in place, boxes of 256^3",
              run.result["voxels"] / run.result["seconds"] / 1e9, "GV/s")
    for name in ("export", "small", "target"):
        shutil.rmtree(where / name, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    report.add_arguments(parser)
    parser.add_argument("--where", default="/dev/shm", help="folder for the sets [/dev/shm]")
    options = parser.parse_args()
    where = pathlib.Path(options.where) / "dolium-bench-dvid"
    where.mkdir(parents=True, exist_ok=True)
    bench = report.Bench(options, JOBS)
    machine = measure.machine() | {"file_system": measure.file_system(where)}
    report.print_header()
    try:
        blocks(bench)
        conversion(bench, where)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    bench.save("dvid", "DVID exports", machine, ("pyarrow", "tensorstore", "zstandard"))


if __name__ == "__main__":
    main()
