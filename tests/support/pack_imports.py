"""Samples, and ShardPacks of them, for tests against the libraries of other formats."""

import json
import random

import shardpack
from program import run

COUNT = 50


def run_shardpack(*arguments):
    return run("pack", *arguments)


def random_bytes(source, most):
    return source.randbytes(source.randrange(most))


def make_samples():
    """Keys, and files by name: bytes of many sizes, empty ones too."""
    source = random.Random(4)
    return {
        f"part{i % 3}/s{i:04}": {
            "cls": str(i).encode(),
            "jpg": b"\xff\xd8\xff" + random_bytes(source, 5000),
            "json": json.dumps({"i": i, "text": "ü" * (i % 7)}).encode(),
            "seg.png": random_bytes(source, 2000) if i % 5 else b"",
        }
        for i in range(COUNT)
    }


def do_import(kind, source, folder, *options):
    """What is in the ShardPack: files by name, by key, in order."""
    target = folder / f"{kind}.shardpack"
    run_shardpack("import", "--from", kind, *options, source, target)
    return contents(target)


def contents(path):
    dataset = shardpack.open(str(path))
    out = {}
    for record in dataset.records():
        assert record.key not in out
        out[record.key] = {entry.name: entry.data for entry in record.file_entries()}
    return out


def pack(samples, folder):
    """A ShardPack of the samples, by way of a folder: in the order of their keys."""
    for key, files in samples.items():
        (folder / "in" / key).mkdir(parents=True)
        for name, data in files.items():
            (folder / "in" / key / name).write_bytes(data)
    run_shardpack("import", "--from", "folder", folder / "in", folder / "in.shardpack")
    return folder / "in.shardpack"
