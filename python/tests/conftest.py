"""Sets and volumes that several tests read."""

import os
import random
import signal

import pytest

import dolium
from volume_makers import SHAPE, make, random_array

# Run in the background, a shell's children ignore it, and so would those that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

SPEC = dolium.ShardingSpec(preshift_bits=1, minishard_bits=3, shard_bits=2)


def make_values(count: int, seed: int = 0, largest: int = 2000) -> dict[int, bytes]:
    """Chunks with scattered ids and sizes; one is empty, one has the largest id there is."""
    rng = random.Random(seed)
    ids = rng.sample(range(1 << 40), count - 2)
    values = {i: rng.randbytes(rng.randrange(1, largest)) for i in ids}
    values[0] = b""
    values[(1 << 64) - 1] = b"the last"
    return values


@pytest.fixture
def values():
    return make_values(500)


@pytest.fixture(params=["raw", "gzip"])
def location(request, tmp_path, values):
    spec = dolium.ShardingSpec(1, 3, 2, data_encoding=request.param)
    location = tmp_path / "set"
    dolium.write_sharded(location, spec, values)
    return location


@pytest.fixture
def folder(tmp_path):
    """A plain folder of files."""
    location = tmp_path / "files"
    location.mkdir()
    for name in ("a", "b.bin", "17"):
        (location / name).write_bytes(name.encode() * 3)
    return location


def flip_byte(path: os.PathLike, offset: int) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0xFF]))


@pytest.fixture
def filled(tmp_path):
    """A volume, and the array that it holds."""
    array = random_array(SHAPE, "uint16")
    volume = make(tmp_path / "volume")
    volume[...] = array
    return volume, array
