"""Sets that the tests of requirements look at."""

import io
import json
import tarfile

import numpy as np
import pytest

import shardpack
from shardpack_walkthrough import ANNOTATION, LEFT, RIGHT, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The input of the document's walkthrough: a folder for each sample."""
    folder = tmp_path_factory.mktemp("input") / "input_data_directory"
    for number in range(200):
        sample = folder / "images17" / f"image{number}"
        sample.mkdir(parents=True)
        (sample / "left.jpg").write_bytes(LEFT)
        (sample / "right.jpg").write_bytes(RIGHT)
        (sample / "meta.json").write_bytes(ANNOTATION)
    return folder


@pytest.fixture(scope="module")
def shard(folder, tmp_path_factory):
    """The shard that the document's command line makes of it."""
    path = tmp_path_factory.mktemp("shards") / "dataset-train-000000.shardpack"
    command = ["create", "--input", folder, "--output", path, "--record-size-limit", "1GB"]
    command += ["--compression", "lz4", "--metadata", "creator=MyName", "training=true"]
    run(*command)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A set of several shards."""
    folder = tmp_path_factory.mktemp("many")
    with shardpack.Writer(folder / "dataset-train-000000.shardpack", shard_records=30) as writer:
        for number in range(100):
            writer.write(f"sample{number:03}", {"number.json": f"{number}", "x.bin": bytes(number)})
    return folder


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    """The same 3000 samples as a shard and as a tar file."""
    folder = tmp_path_factory.mktemp("claims")
    source = np.random.default_rng(1)
    samples = {
        f"images/{n:06}": {
            "image.jpg": source.bytes(int(source.integers(5_000, 15_000))),
            "meta.json": json.dumps({"label": n, "caption": f"sample {n} of a test"}).encode(),
        }
        for n in range(3000)
    }
    with shardpack.Writer(folder / "a.shardpack") as writer:
        for key, files in samples.items():
            writer.write(key, files)
    with tarfile.open(folder / "a.tar", "w") as tar:
        for key, files in samples.items():
            for name, data in files.items():
                info = tarfile.TarInfo(f"{key}.{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return folder, samples
