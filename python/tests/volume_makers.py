"""Volumes and arrays that tests make."""

import dolium
import numpy as np

TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32"]
BEGIN = (-5, 7, 100)
SHAPE = (37, 29, 23)
END = tuple(b + s for b, s in zip(BEGIN, SHAPE))


def random_array(shape, dtype, seed=0):
    """Any numbers of a type; few enough to be labels."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, 50, dtype=dtype, endpoint=True)
    return rng.choice(values, shape)


def make(location, dtype="uint16", channels=1, **options):
    """A volume with a voxel offset and chunks that do not fill it."""
    options = {"chunk_size": (16, 8, 8), "offset": BEGIN} | options
    if options.get("sharded") is not False and not options.get("gzip_files"):
        options.setdefault("shard_size", 1 << 16)
    return dolium.Volume.create(
        location, shape=SHAPE, dtype=dtype, num_channels=channels, **options
    )


def index_of(begin, end):
    return tuple(map(slice, begin, end))


def shifted(index):
    """The same box of an array that begins at 0."""
    return tuple(slice(s.start - b, s.stop - b) for s, b in zip(index, BEGIN))


def random_box(rng):
    begin = [int(rng.integers(b, e)) for b, e in zip(BEGIN, END)]
    end = [int(rng.integers(b + 1, e + 1)) for b, e in zip(begin, END)]
    return index_of(begin, end)
