"""The store's part of `./dev bench xet`: put and get of 4 GiB, against restic and borg.

    python cas_jobs.py JOB '{"argument": ...}'    prints one JSON object

`measure_store(bench, where)` runs the jobs. The data are half random bytes and half floats that
compress a little, in one large file and many of 1 MiB. The second version has one percent of each
file changed: bytes replaced, and some inserted. All three tools are given the same folder, run as
programs, and keep their data on the same file system. restic and borg encrypt by default; borg is
asked not to, restic cannot be. Memory is the peak of the program alone.
"""

import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FULL = 4 << 30
TOOLS = ("dolium", "restic", "borg")
WANTED_RATIO = 3
MOST_MEMORY = 512 << 20


# --- the data -------------------------------------------------------------------------------


def floats(source, size):
    """Bytes of four-byte numbers whose upper bytes repeat."""
    block = bytearray(source.randbytes(size))
    block[3::4] = bytes([0x3F]) * len(block[3::4])
    block[2::4] = source.randbytes(1) * len(block[2::4])
    return bytes(block)


def make(folder, size):
    """One file of half the size, and files of 1 MiB."""
    source = random.Random(11)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    with open(folder / "large", "wb") as large:
        for _ in range(size // 2 >> 22):
            large.write(source.randbytes(2 << 20))
            large.write(floats(source, 2 << 20))
    for number in range(size // 2 >> 20):
        data = source.randbytes(1 << 20) if number % 2 else floats(source, 1 << 20)
        (folder / f"part{number:05}").write_bytes(data)
    return {"seconds": 0}


def change(folder):
    """One percent of each large file, in runs of 64 KiB; one in a hundred small files."""
    source = random.Random(12)
    folder = pathlib.Path(folder)
    with open(folder / "large", "r+b") as large:
        size = large.seek(0, os.SEEK_END)
        for _ in range(max(1, size // 100 >> 16)):
            large.seek(source.randrange(size))
            large.write(source.randbytes(min(1 << 16, size - large.tell())))
    parts = sorted(folder.glob("part*"))
    for part in parts[:: 100] or parts[:1]:
        data = part.read_bytes()
        part.write_bytes(data[:1000] + b"inserted" + data[1000:])
    return {"seconds": 0}


# --- the tools ------------------------------------------------------------------------------


def environment(store):
    cache = f"{store}.cache"
    return os.environ | {
        "RESTIC_PASSWORD": "bench",
        "RESTIC_CACHE_DIR": cache,
        "BORG_BASE_DIR": cache,
        "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
    }


def commands(tool, store, source, out, version):
    """The commands that make a store, put a version and get it."""
    program = os.environ.get("DOLIUM_PROGRAM", str(ROOT / "build" / "release" / "dolium"))
    if tool == "dolium":
        return {
            "init": [program, "cas", "init", store],
            "put": [program, "cas", "put", "--store", store, "--name", "data", source],
            "get": [program, "cas", "get", "--store", store, f"data@{version}", "-o", out],
        }
    if tool == "restic":
        return {
            "init": ["restic", "-q", "-r", store, "init"],
            "put": ["restic", "-q", "-r", store, "backup", "."],
            "get": ["restic", "-q", "-r", store, "restore", "latest", "--target", out],
        }
    return {
        "init": ["borg", "init", "--encryption", "none", store],
        "put": ["borg", "create", f"{store}::v{version}", "."],
        "get": ["borg", "extract", f"{store}::v{version}"],
    }


def run(tool, action, store, source, out, version):
    """Runs one command; its time, and the peak of its memory."""
    command = commands(tool, store, source, out, version)[action]
    folder = source
    if action == "get":
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        folder = out
    if action == "init":
        folder = os.path.dirname(store)
    begin = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(store),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode(errors='replace')}")
    stored = sum(file.stat().st_size for file in pathlib.Path(store).rglob("*") if file.is_file())
    return {"seconds": seconds, "memory": usage.ru_maxrss * 1024, "stored": stored}


def same(source, out):
    """Whether two folders hold the same files."""
    done = subprocess.run(["diff", "-rq", source, out], capture_output=True, text=True)
    return {"same": done.returncode == 0, "said": done.stdout[-1000:]}


# --- the comparison -------------------------------------------------------------------------


def measure_store(bench, where):
    """Adds the rows of the store to a report.Bench."""
    import measure

    def job(name, **arguments):
        return measure.run(__file__, name, **arguments).result

    if not bench.wants("cas"):
        return
    tools = [tool for tool in TOOLS if tool == "dolium" or shutil.which(tool)]
    size = bench.count(FULL)
    where = pathlib.Path(where) / "cas"
    source, out = str(where / "source"), str(where / "out")
    steps = ("put", "put of 1 % changed", "get")
    found = {(tool, step): [] for tool in tools for step in steps}
    for _ in range(max(1, bench.options.repeat)):
        for tool in tools:  # One after another: all three at once would not fit memory.
            shutil.rmtree(where, ignore_errors=True)
            job("make", folder=source, size=size)
            store = str(where / tool)
            for action, version, name in (
                ("init", 1, None),
                ("put", 1, steps[0]),
                ("change", 2, None),
                ("put", 2, steps[1]),
                ("get", 2, steps[2]),
            ):
                if action == "change":
                    job("change", folder=source)
                    continue
                measured = job(
                    "run", tool=tool, action=action, store=store, source=source, out=out,
                    version=version,
                )
                if name:
                    found[tool, name].append(measured)
            compared = job("same", source=source, out=out)
            if not compared["same"]:
                raise RuntimeError(f"{tool} restored something else: {compared['said']}")
    shutil.rmtree(where, ignore_errors=True)

    def median(tool, name, member):
        return statistics.median(run[member] for run in found[tool, name])

    for name in steps:
        speed = {tool: size / median(tool, name, "seconds") / 1e6 for tool in tools}
        for tool in tools[1:]:
            bench.add_ratio(f"cas {name}, {size >> 20:,} MiB", "MB/s", speed["dolium"], tool,
                            speed[tool], at_least=WANTED_RATIO)
        memory = max(run["memory"] for run in found["dolium", name])
        bench.add(f"cas {name}: memory", memory / 2**20, "MiB", target=MOST_MEMORY >> 20,
                  met=memory <= MOST_MEMORY)
    for tool in tools[1:]:
        bench.add_ratio("cas: bytes on disk, two versions", "MB",
                        median("dolium", steps[1], "stored") / 1e6, tool,
                        median(tool, steps[1], "stored") / 1e6)
    bench.details += [
        {"job": f"cas {name}", "system": tool, "runs": runs}
        for (tool, name), runs in found.items()
    ]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
