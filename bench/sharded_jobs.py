"""The measurements of sharded.py, each run in a process of its own.

    python sharded_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data, not opening.
"""

import json
import os
import pathlib
import random
import struct
import sys
import time

KIB = 1024
POOL_BYTES = 8 * KIB * KIB


def make_pool(size, kind="random"):
    """Different values of one size, few enough that they do not count as memory."""
    source = random.Random(1)
    count = max(4, POOL_BYTES // size)
    if kind == "random":
        return [source.randbytes(size) for _ in range(count)]
    return [labels(source, size) for _ in range(min(count, 64))]


def labels(source, size):
    """What a segmentation looks like: runs of a few labels of 8 bytes. gzip makes it small."""
    few = [source.randbytes(8) for _ in range(24)]
    value = bytearray()
    while len(value) < size:
        value += source.choice(few) * source.randrange(1, 40)
    return bytes(value[:size])


def make_ids(count, order):
    ids = list(range(count))
    if order == "random":
        random.Random(2).shuffle(ids)
    return ids


def pairs(ids, pool):
    return ((id, pool[id % len(pool)]) for id in ids)


# --- TensorStore ----------------------------------------------------------------------------


def open_tensorstore(folder, spec, cache_bytes=0):
    import tensorstore as ts

    os.makedirs(folder, exist_ok=True)
    context = ts.Context({"cache_pool": {"total_bytes_limit": cache_bytes}})
    return ts.KvStore.open(
        {
            "driver": "neuroglancer_uint64_sharded",
            "metadata": spec,
            "base": f"file://{os.path.abspath(folder)}/",
        },
        context=context,
    ).result()


def write_tensorstore(folder, spec, ids, pool, transactions):
    """In one transaction, or one for each shard; ids come in shard order then, and commits of
    two shards overlap."""
    import tensorstore as ts

    store = open_tensorstore(folder, spec)
    if transactions == "one":
        with ts.Transaction() as transaction:
            view = store.with_transaction(transaction)
            for id, value in pairs(ids, pool):
                view[struct.pack(">Q", id)] = value
        return
    low_bits = spec["preshift_bits"] + spec["minishard_bits"]
    commits, shard, transaction, view = [], None, None, None
    for id, value in pairs(ids, pool):
        if id >> low_bits != shard:
            if transaction is not None:
                commits.append(transaction.commit_async())
            if len(commits) > 1:
                commits.pop(0).result()
            shard, transaction = id >> low_bits, ts.Transaction()
            view = store.with_transaction(transaction)
        view[struct.pack(">Q", id)] = value
    commits.append(transaction.commit_async())
    for commit in commits:
        commit.result()


# --- cloud-volume ---------------------------------------------------------------------------


def cloud_volume_spec(spec):
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification

    return ShardingSpecification.from_dict(spec)


def open_cloud_volume(folder, spec):
    import types

    from cloudvolume.cacheservice import CacheService
    from cloudvolume.datasource.precomputed.sharding import ShardReader

    path = f"file://{os.path.abspath(folder)}"
    config = types.SimpleNamespace(progress=False, secrets=None, parallel=1, cache_locking=None)
    meta = types.SimpleNamespace(cloudpath=path)
    cache = CacheService(str(folder), enabled=False, config=config, meta=meta)
    return ShardReader(path, cache, cloud_volume_spec(spec))


def write_cloud_volume(folder, spec, ids, pool):
    """All in memory, for that is how it works; it does not flush files to disk."""
    os.makedirs(folder, exist_ok=True)
    for name, data in cloud_volume_spec(spec).synthesize_shards(dict(pairs(ids, pool))).items():
        (pathlib.Path(folder) / name).write_bytes(data)


# --- jobs -----------------------------------------------------------------------------------


def write(library, folder, spec, count, size, order, transactions="one", memory=256 << 20):
    pool, ids = make_pool(size), make_ids(count, order)
    if library == "dolium":
        import dolium

        sharding = dolium.ShardingSpec.from_json(json.dumps(spec))
        began = time.perf_counter()
        dolium.write_sharded(folder, sharding, pairs(ids, pool), memory=memory)
    elif library == "tensorstore":
        import tensorstore  # noqa: F401  not to be timed

        began = time.perf_counter()
        write_tensorstore(folder, spec, ids, pool, transactions)
    else:
        cloud_volume_spec(spec)
        began = time.perf_counter()
        write_cloud_volume(folder, spec, ids, pool)
    return {"seconds": time.perf_counter() - began}


def make(folder, spec, count, size, kind):
    """A set to read from."""
    import dolium

    pool = make_pool(size, kind)
    sharding = dolium.ShardingSpec.from_json(json.dumps(spec))
    dolium.write_sharded(folder, sharding, pairs(range(count), pool))
    return {}


def make_many(folder, spec, count):
    """A set of very many small chunks."""
    import dolium
    import numpy as np

    sharding = dolium.ShardingSpec.from_json(json.dumps(spec))
    values = np.arange(2 * count, dtype="<u8").reshape(count, 2)
    dolium.write_sharded(folder, sharding, ids=np.arange(count, dtype=np.uint64), values=values)
    return {}


def _getters(library, folder, spec, mode):
    """How to read one chunk, and how to read many."""
    if library == "dolium":
        import dolium

        container = dolium.open(folder)
        return container.__getitem__, container.get_many
    if library == "cloud-volume":
        reader = open_cloud_volume(folder, spec)
        return reader.get_data, lambda ids: list(reader.get_data(ids).values())

    import tensorstore as ts

    store = open_tensorstore(folder, spec, cache_bytes=1 << 30)
    pack = struct.Struct(">Q").pack
    # "fresh" asks whether the cached indexes are still those of the file, "stale" does not.
    options = {} if mode == "fresh" else {"staleness_bound": 0.0}

    def one(id):
        return store.read(pack(id), **options).result().value

    def many(ids):
        with ts.Batch() as batch:
            reads = [store.read(pack(id), batch=batch, **options) for id in ids]
        return [read.result().value for read in reads]

    return one, many


def get(library, folder, spec, count, gets, batch, mode="fresh"):
    """Random reads with everything in the page cache, and indexes in the library's own."""
    one, many = _getters(library, folder, spec, mode)
    source = random.Random(3)
    ids = [source.randrange(count) for _ in range(gets)]
    size = len(one(0))
    if batch == 1:
        for id in ids[: max(1, gets // 2)]:
            one(id)
        began = time.perf_counter()
        for id in ids:
            one(id)
        seconds = time.perf_counter() - began
        assert len(one(ids[-1])) == size
    else:
        batches = [source.sample(range(count), batch) for _ in range(max(1, gets // batch))]
        many(batches[0])
        began = time.perf_counter()
        for wanted in batches:
            values = many(wanted)
        seconds = time.perf_counter() - began
        assert len(values) == batch and all(len(value) == size for value in values)
        gets = batch * len(batches)
    return {"seconds": seconds, "gets": gets}


def first_get(folder, count, times):
    """The first read of a container just opened; what it reads is in the page cache."""
    import dolium

    for path in pathlib.Path(folder).iterdir():
        path.read_bytes()
    source = random.Random(4)
    seconds = []
    for _ in range(times):
        id = source.randrange(count)
        container = dolium.open(folder)
        began = time.perf_counter()
        value = container[id]
        seconds.append(time.perf_counter() - began)
        assert value == struct.pack("<QQ", 2 * id, 2 * id + 1)
    return {"seconds": seconds}


def count_requests(folder, count):
    """Range reads of a shard behind a server: the first one of a chunk, and the next."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
    import dolium
    from range_server import RangeServer

    source = random.Random(5)
    cold, warm = [], []
    with RangeServer(folder) as server:
        for _ in range(5):
            id = source.randrange(count)
            container = dolium.open(server.url)
            server.take_log()
            for requests in (cold, warm):
                assert container[id] == struct.pack("<QQ", 2 * id, 2 * id + 1)
                requests.append(len(server.take_log()))
    return {"cold": cold, "warm": warm}


JOBS = (write, make, make_many, get, first_get, count_requests)

if __name__ == "__main__":
    job = next(job for job in JOBS if job.__name__ == sys.argv[1])
    print(json.dumps(job(**json.loads(sys.argv[2]))))
