"""The measurements of pack.py, each run in a process of its own.

    python pack_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data, and opening only where it says so.
Every reader delivers the key (where its format has one) and the payload as bytes, and touches the
first and the last byte.
"""

import importlib
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import struct
import sys
import time

SEED = 7
LEAST_SECONDS = 1.0  # of reading that are measured

# What each writer imports.
MODULES = {
    "shardpack": ["shardpack"],
    "webdataset": ["webdataset"],
    "lmdb": ["lmdb"],
    "mds": ["streaming_alone", "streaming"],
    "litdata": ["litdata.streaming.writer"],
    "array_record": ["array_record.python.array_record_module"],
    "tfrecord": ["crc32c"],
}


def samples(kind, count):
    """(key, {name: bytes}): text of 1 KB, images of about 10 KB with JSON, or blobs of 50 MB."""
    source = random.Random(SEED)
    pool = source.randbytes(64 << 20)
    words = [source.randbytes(4).hex() for _ in range(2000)]
    for number in range(count):
        key = f"{kind}/{number:08d}"
        meta = json.dumps({"label": number % 1000, "source": "camera", "id": key}).encode()
        if kind == "text":
            text = " ".join(source.choices(words, k=114)).encode()[:1024]
            yield key, {"txt": text}
        elif kind == "image":
            size = min(200_000, int(source.lognormvariate(9.0, 0.55)))
            begin = source.randrange(len(pool) - size)
            yield key, {"jpg": pool[begin : begin + size], "json": meta}
        else:
            size = 50_000_000
            begin = source.randrange(len(pool) - size)
            yield key, {"bin": pool[begin : begin + size], "json": meta}


def touch(data):
    return data[0] + data[-1] if len(data) else 0


def order_of(order, count):
    numbers = list(range(count))
    if order == "random":
        random.Random(SEED + 1).shuffle(numbers)
    return numbers


# --- writing --------------------------------------------------------------------------------


def make(system, kind, count, path):
    """Writes the set from memory, in the way each peer recommends."""
    for module in MODULES.get(system, ()):
        importlib.import_module(module)
    data = list(samples(kind, count))
    raw = sum(len(content) for _, files in data for content in files.values())
    path = pathlib.Path(path)
    begin = time.perf_counter()
    WRITERS[system](data, path)
    seconds = time.perf_counter() - begin
    stored = sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())
    if path.is_file():
        stored = path.stat().st_blocks * 512
    return {"seconds": seconds, "raw": raw, "stored": stored}


def write_shardpack(data, path):
    import shardpack

    path.mkdir()
    with shardpack.Writer(path / "train-000000.shardpack") as writer:
        for key, files in data:
            writer.write(key, files)


def write_webdataset(data, path):
    import webdataset

    path.mkdir()
    with webdataset.TarWriter(str(path / "train.tar"), encoder=False) as writer:
        for key, files in data:
            writer.write({"__key__": key, **files})


def write_lmdb(data, path):
    import lmdb

    with lmdb.open(str(path), map_size=1 << 36) as environment:
        with environment.begin(write=True) as transaction:
            for key, files in data:
                transaction.put(key.encode(), join_files(files), append=True)


def join_files(files):
    """The files of a sample as one value: the length of each but the last goes before them."""
    contents = list(files.values())
    lengths = struct.pack(f"<{len(contents) - 1}I", *map(len, contents[:-1]))
    return b"".join([lengths, *contents])


def split_files(value):
    """What join_files joined, of a sample that has two files."""
    end = 4 + int.from_bytes(value[:4], "little")
    return bytes(value[4:end]), bytes(value[end:])


def write_files(data, path):
    for key, files in data:
        for name, content in files.items():
            file = path / f"{key}.{name}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def write_mds(data, path):
    import streaming_alone  # noqa: F401
    from streaming import MDSWriter

    columns = {"key": "str", **{name: "bytes" for name in data[0][1]}}
    with MDSWriter(out=str(path), columns=columns, compression=None) as writer:
        for key, files in data:
            writer.write({"key": key, **files})


def write_litdata(data, path):
    from litdata.streaming.writer import BinaryWriter

    writer = BinaryWriter(str(path), chunk_bytes="64MB")
    for number, (key, files) in enumerate(data):
        writer.add_item(number, {"key": key, **files})
    writer.done()
    writer.merge()


def write_array_record(data, path):
    from array_record.python.array_record_module import ArrayRecordWriter

    path.mkdir()
    writer = ArrayRecordWriter(str(path / "train.arrayrecord"), "group_size:1,uncompressed")
    for _, files in data:
        writer.write(b"".join(files.values()))
    writer.close()


def write_tfrecord(data, path):
    import crc32c

    def masked(value):
        crc = crc32c.crc32c(value)
        return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)

    path.mkdir()
    with (path / "train.tfrecord").open("wb") as file:
        for _, files in data:
            value = b"".join(files.values())
            length = struct.pack("<Q", len(value))
            file.write(length + masked(length) + value + masked(value))


WRITERS = {
    name.removeprefix("write_"): function
    for name, function in list(globals().items())
    if name.startswith("write_")
}


# --- reading --------------------------------------------------------------------------------


def open_set(path, check="full"):
    import shardpack

    return shardpack.open(pathlib.Path(path) / "train-000000.shardpack", check=check)


def read_shardpack(path, order, count, check="full"):
    """Files as tuples, one sample after another; in order, with their keys."""
    dataset = open_set(path, check)
    names = dataset[0].names()
    tuples = dataset.tuples(*names)
    keyed = dataset.tuples("__key__", *names)
    numbers = order_of(order, count)
    while True:
        yield
        if order == "random" and len(names) == 2:
            for number in numbers:
                first, second = tuples[number]
                touch(first)
                touch(second)
        elif order == "random":
            for number in numbers:
                touch(tuples[number][0])
        elif len(names) == 2:
            for _, first, second in keyed:
                touch(first)
                touch(second)
        else:
            for _, first in keyed:
                touch(first)


def read_shardpack_heads(path, order, count):
    yield from read_shardpack(path, order, count, check="heads")


def read_shardpack_records(path, order, count):
    """Records, of which everything can be asked."""
    dataset = open_set(path)
    numbers = order_of(order, count)
    while True:
        yield
        records = dataset.records() if order == "sequential" else map(dataset.__getitem__, numbers)
        for record in records:
            record.key
            for data in record.as_dict().values():
                touch(data)


def read_shardpack_batched(path, order, count, batch=64):
    dataset = open_set(path)
    tuples = dataset.tuples(*dataset[0].names())
    numbers = order_of(order, count)
    batches = [numbers[begin : begin + batch] for begin in range(0, count, batch)]
    while True:
        yield
        for batch in batches:
            for column in tuples[batch]:
                for data in column:
                    touch(data)


def read_shardpack_view(path, order, count):
    dataset = open_set(path)
    name = dataset[0].names()[0]
    tuples = dataset.tuples(name, views=True)
    keyed = dataset.tuples("__key__", name, views=True)
    numbers = order_of(order, count)
    while True:
        yield
        if order == "sequential":
            for _, data in keyed:
                touch(data)
        else:
            for number in numbers:
                touch(tuples[number][0])


def read_lmdb(path, order, count, buffers=False, split=False):
    """Whole values: the files of a sample are not taken apart, unless `split`."""
    import lmdb

    environment = lmdb.open(str(path), readonly=True, lock=False, readahead=order != "random")
    with environment.begin(buffers=buffers or split) as transaction:
        keys = [bytes(key) for key in transaction.cursor().iternext(keys=True, values=False)]
        is_split = split and not keys[0].startswith(b"text")
        keys = [keys[number] for number in order_of(order, count)]
        while True:
            yield
            if is_split:
                values = (
                    (value for _, value in transaction.cursor())
                    if order == "sequential"
                    else map(transaction.get, keys)
                )
                for value in values:
                    first, second = split_files(value)
                    touch(first)
                    touch(second)
            elif order == "sequential":
                for _, value in transaction.cursor():
                    touch(value)
            else:
                for key in keys:
                    touch(transaction.get(key))


def read_lmdb_split(path, order, count):
    """Files as bytes of their own, as the other readers deliver them."""
    yield from read_lmdb(path, order, count, split=True)


def read_lmdb_buffers(path, order, count):
    yield from read_lmdb(path, order, count, buffers=True)


def read_webdataset(path, order, count):
    import webdataset

    dataset = webdataset.WebDataset(
        str(pathlib.Path(path) / "train.tar"), shardshuffle=False, empty_check=False
    )
    while True:
        yield
        for sample in dataset:
            sample["__key__"]
            for name, data in sample.items():
                if not name.startswith("__"):
                    touch(data)


def read_files(path, order, count):
    files = sorted(file for file in pathlib.Path(path).rglob("*") if file.is_file())
    by_key = {}
    for file in files:
        by_key.setdefault(file.name.partition(".")[0], []).append(str(file))
    groups = list(by_key.items())
    groups = [groups[number] for number in order_of(order, count)]
    while True:
        yield
        for _, names in groups:
            for name in names:
                with open(name, "rb") as file:
                    touch(file.read())


def read_mds(path, order, count):
    import streaming_alone  # noqa: F401
    from streaming import LocalDataset

    dataset = LocalDataset(str(path))
    numbers = order_of(order, count)
    while True:
        yield
        for number in numbers:
            sample = dataset[number]
            for name, data in sample.items():
                if name != "key":
                    touch(data)


def read_litdata(path, order, count):
    from litdata import StreamingDataset

    dataset = StreamingDataset(str(path))
    numbers = order_of(order, count)
    while True:
        yield
        if order == "sequential":
            for sample in dataset:
                for name, data in sample.items():
                    if name != "key":
                        touch(data)
        else:
            for number in numbers:
                for name, data in dataset[number].items():
                    if name != "key":
                        touch(data)


def read_array_record(path, order, count):
    from array_record.python.array_record_module import ArrayRecordReader

    options = "readahead_buffer_size:0" if order == "random" else ""
    reader = ArrayRecordReader(str(pathlib.Path(path) / "train.arrayrecord"), options)
    numbers = order_of(order, count)
    while True:
        yield
        for begin in range(0, count, 64):
            for data in reader.read(numbers[begin : begin + 64]):
                touch(data)


READERS = {
    name.removeprefix("read_"): function
    for name, function in list(globals().items())
    if name.startswith("read_")
}


def read(system, path, order, count):
    """Delivers all samples, again and again: the first pass, which warms everything up, is not
    counted, and of the others the median counts."""
    run = READERS[system](path, order, count)
    next(run)
    next(run)
    times = []
    while sum(times) < LEAST_SECONDS:
        begin = time.perf_counter()
        next(run)
        times.append(time.perf_counter() - begin)
    return {
        "seconds": statistics.median(times),
        "passes": len(times),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


# --- other ----------------------------------------------------------------------------------


def open_shardpack(path):
    import shardpack

    times = []
    for _ in range(50):
        begin = time.perf_counter()
        dataset = shardpack.open(pathlib.Path(path) / "train-000000.shardpack")
        times.append(time.perf_counter() - begin)
    return {"seconds": sorted(times)[len(times) // 2], "records": len(dataset)}


def global_order(total):
    """A shuffled order of so many samples: the first one, and a million in the middle."""
    from dolium import _core

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    order = _core.PackOrder(total, "global", 1, 0)
    order.at(0)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    order.fill(total // 2, 1_000_000)
    fill = time.perf_counter() - begin
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return {"seconds": first, "per_index": fill / 1e6, "memory": grown}


def create_folder(tool, source, target):
    """The command line: a folder of small files into one file."""
    import subprocess

    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    if tool == "tar":
        command = ["tar", "cf", f"{target}/out.tar", "-C", source, "."]
    else:
        program = os.environ["DOLIUM_PROGRAM"]
        command = [program, "pack", "create", "--input", source]
        command += ["--output", f"{target}/out-000000.shardpack", "--group-by", "stem", "--no-summary"]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - begin}


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
