"""This tree against an earlier one: the same work by both, in turns.

    python bench/compare.py BEFORE AFTER [--where DIR] [--only WORD] [--repeat N] [--note TEXT]

BEFORE and AFTER are folders that hold the command as `dolium` and the Python packages in `site`.
Prints a table and leaves bench/results/compare.md: how many times as fast AFTER is. Jobs are those of
the other benchmarks, without their peers. README.md beside this file says how to make the folders.
"""

import argparse
import os
import pathlib
import shutil
import sys

import measure
from sharded import KIB, spec
from volume import SHARDING

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results" / "compare.md"
LEAST = 0.95


class Tree:
    def __init__(self, name, folder):
        self.name = name
        self.environment = {
            "PYTHONPATH": str(folder / "site"),
            "DOLIUM_PROGRAM": str(folder / "dolium"),
        }
        self.seconds = {}

    def run(self, script, job, **arguments):
        os.environ.update(self.environment)
        return measure.run(HERE / f"{script}_jobs.py", job, **arguments).result

    def measure(self, row, script, job, per=None, **arguments):
        """The seconds of a job; with `per`, which its result counts, for 10^9 of these: some jobs do
        as much as they can within a second."""
        result = self.run(script, job, **arguments)
        work = 1 if per is None else result[per] / 1e9
        self.seconds.setdefault(row, []).append(result["seconds"] / work)


def remove(*folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


# A case makes its data once, and is then run by each tree in turn: a generator that yields a function
# of a tree.


def sharded_reads(where, make):
    for data, size, kind in (("raw", 4 * KIB, "random"), ("gzip", 4 * KIB, "labels"),
                             ("raw", 256 * KIB, "random")):
        folder = where / f"get-{data}-{size}"
        count = 100_000 if size == 4 * KIB else 2_000
        one = {"folder": str(folder), "spec": spec(0, 5, 2, data=data), "count": count}
        make.run("sharded", "make", size=size, kind=kind, **one)

        def work(tree, one=one, data=data, size=size):
            for batch in (1, 1000):
                row = f"get {size // KIB} KiB {data}, batches of {batch}"
                tree.measure(row, "sharded", "get", library="dolium", gets=20_000, batch=batch, **one)

        yield work
        remove(folder)


def sharded_writes(where, _):
    folder = where / "write"
    for name, count, size, order in (("300,000 x 1 KiB, ascending", 300_000, KIB, "ascending"),
                                     ("4,000 x 256 KiB, random order", 4_000, 256 * KIB, "random")):

        def work(tree, name=name, count=count, size=size, order=order):
            remove(folder)
            tree.measure(f"write {name}", "sharded", "write", library="dolium", folder=str(folder),
                         spec=spec(0, 6, 4), count=count, size=size, order=order)

        yield work
    remove(folder)


def voxels(where, make):
    for operation in ("encode", "decode"):

        def work(tree, operation=operation):
            tree.measure(f"compressed_segmentation {operation}, uint64", "volume", "codec",
                         library="dolium", operation=operation, kind="dense", dtype="uint64")

        yield work
    for method, dtype in (("mode", "uint64"), ("average", "uint8")):

        def work(tree, method=method, dtype=dtype):
            tree.measure(f"downsample by {method}, {dtype}", "volume", "downsample",
                         library="dolium", method=method, dtype=dtype, factor=[2, 2, 1])

        yield work

    source, folder = where / "labels.npy", where / "volume"
    make.run("volume", "make_labels", path=str(source), shape=[1024, 1024, 256], size=40)
    one = {"library": "dolium", "folder": str(folder)}

    def work(tree):
        remove(folder)
        tree.measure("volume: write", "volume", "write", source=str(source),
                     sharding=SHARDING | {"shard_bits": 1}, **one)
        tree.measure("volume: read all", "volume", "read_all", source=str(source), **one)
        tree.measure("volume: boxes of 64", "volume", "read_boxes", side=64, count=400, **one)

    yield work
    remove(folder)
    source.unlink()


def packs(where, make):
    for kind, count in (("text", 200_000), ("image", 20_000)):
        folder = where / f"pack-{kind}"
        folder.mkdir()
        path = folder / "set"
        make.run("pack", "make", system="shardpack", kind=kind, count=count, path=str(path))

        def work(tree, kind=kind, count=count, path=path, folder=folder):
            one = {"path": str(path), "count": count}
            for system, label in (("shardpack", "one by one"), ("shardpack_batched", "batches")):
                for order in ("sequential", "random"):
                    tree.measure(f"pack {kind}, {label}, {order}", "pack", "read", system=system,
                                 order=order, **one)
            tree.measure(f"pack {kind}, views", "pack", "read", system="shardpack_view",
                         order="random", **one)
            remove(folder / "made")
            tree.measure(f"pack {kind}, write", "pack", "make", system="shardpack", kind=kind, count=count,
                         path=str(folder / "made"))

        yield work
        remove(folder)
    source = where / "files"
    make.run("pack", "make", system="files", kind="image", count=20_000, path=str(source))

    def work(tree):
        tree.measure("pack create from a folder", "pack", "create_folder", tool="shardpack",
                     source=str(source / "image"), target=str(where / "packed"))

    yield work
    remove(source, where / "packed")


def stores(where, make):
    path = where / "large"
    make.run("xet", "make_large", path=str(path), size=1 << 30)

    def work(tree):
        tree.measure("file hash of 1 GiB", "xet", "hash", system="dolium", paths=[str(path)])

    yield work
    path.unlink()
    source, store, out = where / "source", where / "store", where / "out"
    make.run("cas", "make", folder=str(source), size=2 << 30)

    def work(tree):
        remove(store, out)
        one = {"tool": "dolium", "store": str(store), "source": str(source), "out": str(out), "version": 1}
        tree.run("cas", "run", action="init", **one)
        tree.measure("cas put of 2 GiB", "cas", "run", action="put", **one)
        tree.measure("cas get of 2 GiB", "cas", "run", action="get", **one)

    yield work
    remove(source, store, out)


def exports(where, make):
    for job in ("decode", "encode"):

        def work(tree, job=job):
            tree.measure(f"DVID blocks: {job} 10^9 voxels", "dvid", job, per="voxels", kind="labels")

        yield work
    export, target = where / "export", where / "converted"
    make.run("dvid", "make", path=str(export), shape=[1024, 1024, 512])

    def work(tree):
        remove(target)
        tree.measure("DVID export: convert", "dvid", "convert", path=str(export), target=str(target),
                     encoding="gzip")
        tree.measure("DVID export: read", "dvid", "read", path=str(export))

    yield work
    remove(export, target)


GROUPS = {"sharded": (sharded_reads, sharded_writes), "volume": (voxels,), "pack": (packs,),
          "store": (stores,), "dvid": (exports,)}


def table(trees):
    before, after = trees
    yield "| work | before, s | after, s | times as fast |"
    yield "|---|---|---|---|"
    for row, seconds in before.seconds.items():
        # The best of each: what disturbs a run only makes it slower.
        old, new = min(seconds), min(after.seconds[row])
        yield f"| {row} | {old:.4g} | {new:.4g} | {old / new:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--where", type=pathlib.Path, default=HERE.parent / "build" / "bench-data")
    parser.add_argument("--only", choices=GROUPS)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--note", default="", help="what the folders are, for the table")
    options = parser.parse_args()
    trees = [Tree(name, folder.resolve()) for name, folder in
             (("before", options.before), ("after", options.after))]
    where = options.where / "compare"
    remove(where)
    where.mkdir(parents=True)
    machine = measure.machine()
    try:
        for name, cases in GROUPS.items():
            for case in cases if options.only in (None, name) else ():
                for work in case(where, trees[1]):
                    for turn in range(options.repeat):
                        for tree in trees if turn % 2 else reversed(trees):
                            work(tree)
    finally:
        remove(where)
    lines = list(table(trees))
    print("\n".join(lines))
    if options.only is None:
        facts = ", ".join(f"{name} {value}" for name, value in machine.items())
        head = f"# Before and after\n\n{options.note}\n\nBest of {options.repeat}, in turns. {facts}.\n"
        RESULTS.write_text("\n".join([head, *lines, ""]))
    slower = sum(min(trees[0].seconds[row]) / min(trees[1].seconds[row]) < LEAST for row in trees[0].seconds)
    print(f"{len(trees[0].seconds)} rows, {slower} below {LEAST}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
