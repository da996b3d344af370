"""The measurements of xet.py, each run in a process of its own.

    python xet_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data. Files are in the page cache.
"""

import hashlib
import json
import pathlib
import random
import sys
import time

SEED = 7


def make_large(path, size):
    """Random bytes: chunks of all sizes, none twice."""
    source = random.Random(SEED)
    with open(path, "wb") as file:
        for at in range(0, size, 64 << 20):
            file.write(source.randbytes(min(64 << 20, size - at)))
    return {}


def make_small(folder, count):
    """Files of 1 kB to 200 kB, most of them small."""
    source = random.Random(SEED)
    pool = source.randbytes(16 << 20)
    pathlib.Path(folder).mkdir()
    total = 0
    for number in range(count):
        size = min(200_000, int(source.lognormvariate(9.0, 1.0)))
        begin = source.randrange(len(pool) - size)
        pathlib.Path(folder, str(number)).write_bytes(pool[begin : begin + size])
        total += size
    return {"bytes": total}


def hashes_of(system, paths):
    """(hashes, seconds)"""
    if system == "dolium":
        import dolium

        begin = time.perf_counter()
        hashes = [file.hash for file in dolium.cas.hash_files(paths)]
    else:
        import hf_xet

        hf_xet.hash_files(paths[:1])  # starts its threads
        begin = time.perf_counter()
        hashes = [file.hash for file in hf_xet.hash_files(paths)]
    return hashes, time.perf_counter() - begin


def warm(paths):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def hash(system, paths):
    warm(paths)
    hashes, seconds = hashes_of(system, paths)
    return {"seconds": seconds, "hashes": hashes}


def hash_folder(system, folder, count):
    paths = [f"{folder}/{number}" for number in range(count)]
    warm(paths)
    hashes, seconds = hashes_of(system, paths)
    return {"seconds": seconds, "digest": hashlib.sha256("".join(hashes).encode()).hexdigest()}


if __name__ == "__main__":
    job, arguments = sys.argv[1:]
    print(json.dumps(globals()[job](**json.loads(arguments))))
