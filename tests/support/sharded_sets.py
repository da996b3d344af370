"""Specs, chunks and folders that tests make sharded sets from."""

import itertools
import pathlib
import random

LARGEST_ID = 2**64 - 1


def make_spec(bits, hash="identity", index="raw", data="raw"):
    """The `sharding` member of an info; `bits` are preshift, minishard and shard bits."""
    preshift_bits, minishard_bits, shard_bits = bits
    return {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": hash,
        "preshift_bits": preshift_bits,
        "minishard_bits": minishard_bits,
        "shard_bits": shard_bits,
        "minishard_index_encoding": index,
        "data_encoding": data,
    }


HASHES = ("identity", "murmurhash3_x86_128")
ENCODINGS = ("raw", "gzip")
BITS = (
    (0, 0, 0),  # one list
    (0, 3, 0),  # one shard
    (0, 0, 5),  # two digits in a shard's name, one minishard
    (0, 3, 2),
    (2, 2, 3),
    (9, 6, 4),
    (63, 1, 1),
    (0, 1, 63),  # a shard for nearly each chunk, long names
    (0, 12, 1),  # mostly empty minishards
)


def grid(bits=BITS, encodings=tuple(itertools.product(ENCODINGS, ENCODINGS))):
    """Specs, every combination."""
    return [
        make_spec(b, hash, index, data)
        for b in bits
        for hash in HASHES
        for index, data in encodings
    ]


def name(spec):
    """A short name of a spec, for the names of tests."""
    return "-".join(
        [
            spec["hash"][:6],
            f"{spec['preshift_bits']}.{spec['minishard_bits']}.{spec['shard_bits']}",
            spec["minishard_index_encoding"],
            spec["data_encoding"],
        ]
    )


def make_chunks(seed=0):
    """Chunks by id: dense ids, distant ids, both ends of the range; empty and repetitive values."""
    source = random.Random(seed)
    ids = {0, 1, 2, 3, 7, 8, 255, 256, 511, 512, 2**32 - 1, 2**32, 2**53 + 1, 2**63}
    ids |= {LARGEST_ID - 1, LARGEST_ID}
    ids |= set(range(1000, 1032))
    ids |= {source.getrandbits(64) for _ in range(16)}
    chunks = {}
    for number, id in enumerate(sorted(ids)):
        kind = number % 4
        if kind == 0:
            value = source.randbytes(source.randrange(1, 600))
        elif kind == 1:
            value = b"chunk %d " % id * source.randrange(1, 200)
        elif kind == 2:
            value = source.randbytes(3)
        else:
            value = b""
        chunks[id] = value
    assert b"" in chunks.values() and chunks[LARGEST_ID] is not None
    return chunks


def absent_ids(chunks):
    """Ids that are not there: neighbours of some that are, and others."""
    absent = {id + 1 for id in chunks if id < LARGEST_ID} | {4, 9, 2**40, 2**62 + 5}
    return sorted(absent - chunks.keys())


def shard_files(folder):
    """The bytes of every shard in a folder, by name."""
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob("*.shard")}


def folder_bytes(folder):
    """The bytes of every file below a folder, hidden ones too, by relative path."""
    folder = pathlib.Path(folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def leftovers(folder):
    """Names of our bookkeeping in or beside a set: none are left by work that has ended."""
    folder = pathlib.Path(folder)
    inside = [p for p in folder.rglob("*") if ".dolium" in p.name]
    beside = [p for p in folder.parent.iterdir() if ".dolium" in p.name]
    return sorted(str(p.relative_to(folder.parent)) for p in inside + beside)
