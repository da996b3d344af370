"""Jobs whose source changes, between two runs or while they run: the result is all of one state, or
there is an error; never a mixture that is called good."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import program
from killing import all_files
from range_server import RangeServer

SIZE = (128, 96, 64)
CHUNKS = ("--chunk-size", "32,32,32")
# Two chunks each, whatever they take as stored.
SPEC = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 1,
        "minishard_bits": 0, "shard_bits": 4, "data_encoding": "gzip"}  # fmt: skip
SHARDS = (*CHUNKS, "--to-spec", "sharding.json")


def make_volume(folder, offset, *options):
    x, y, z = np.meshgrid(*(np.arange(n) for n in SIZE), indexing="ij")
    labels = (x // 11 + y // 9 * 20 + z // 7 * 500 + offset).astype(np.uint32)
    array = folder.parent / f"{folder.name}.npy"
    np.save(array, np.asfortranarray(labels))
    (folder.parent / "sharding.json").write_text(json.dumps(SPEC))
    options = [folder.parent / option if option == "sharding.json" else option for option in options]
    program.run("volume", "ingest", *options, "--scales", "1", array, folder)


def make_export(folder, offset):
    make_volume(folder.parent / f"{folder.name}.volume", offset, *SHARDS)
    convert = ("convert", "--to", "dvid", "--shard-side", "64")
    program.run(*convert, folder.parent / f"{folder.name}.volume", folder)


def make_files(folder, offset):
    folder.mkdir()
    for number in range(200):
        (folder / str(number)).write_text(f"{offset} {number} " * 50)


KINDS = {
    "convert-shards": (
        lambda folder, offset: make_volume(folder, offset, *SHARDS),
        ("convert", "--to", "files"),
    ),
    "convert-files": (make_files, ("convert", "--to", "files")),
    "transcode-shards": (
        lambda folder, offset: make_volume(folder, offset, *SHARDS),
        ("volume", "transcode", "--encoding", "raw"),
    ),
    "transcode-files": (
        lambda folder, offset: make_volume(folder, offset, *CHUNKS, "--unsharded"),
        ("volume", "transcode", "--sharded", "--shard-size", "1KiB"),
    ),
    "precomputed": (make_export, ("convert", "--to", "precomputed", "--shard-size", "1KiB")),
    "dvid": (
        lambda folder, offset: make_volume(folder, offset, *SHARDS),
        ("convert", "--to", "dvid", "--shard-side", "64"),
    ),
    "downsample": (
        lambda folder, offset: make_volume(folder, offset, *CHUNKS, "--unsharded"),
        ("volume", "downsample"),
    ),
}


class Job:
    """One kind of job, with a source and another one whose files have the same names."""

    def __init__(self, kind, folder):
        self.make, self.command = KINDS[kind]
        self.adds = kind == "downsample"
        self.is_scale = kind == "convert-shards"
        self.folder = folder
        self.location = str(folder / "source")
        self.make(folder / "source", 0)
        self.make(folder / "other", 7)
        files = [name for name in all_files(folder / "source") if self.is_data(name)]
        self.changed = files[len(files) // 2]
        self.added = files[-1]
        (folder / "source" / self.added).unlink()
        self.target = folder / "target"
        if self.adds:
            shutil.copytree(folder / "source", self.target)
        self.read = self.target if self.adds else folder / "source"

    @staticmethod
    def is_data(name):
        return name not in ("info", "spec.json") and not name.endswith(".csv")

    def arguments(self, target):
        source = f"{self.location}/1_1_1" if self.is_scale else self.location
        return (*self.command, *(() if self.adds else (source,)), target)

    def change(self, way):
        name = self.added if way == "add" else self.changed
        shutil.copy(self.folder / "other" / name, self.folder / "one")
        os.rename(self.folder / "one", self.read / name)

    def expected(self, name):
        """What an undisturbed run makes of the source as it is now."""
        target = self.folder / name
        if self.adds:
            shutil.copytree(self.folder / "source", target)
            shutil.copytree(self.target / "1_1_1", target / "1_1_1", dirs_exist_ok=True)
        program.run(*self.arguments(target))
        return all_files(target)

    def expect_refusal_then_new(self):
        program.run(*self.arguments(self.target), status=3)
        program.run(*self.arguments(self.target), "--force")
        assert all_files(self.target) == self.expected("expected")


@pytest.mark.parametrize("way", ["replace", "add"])
@pytest.mark.parametrize("kind", KINDS)
def test_between_two_runs(kind, way, tmp_path):
    job = Job(kind, tmp_path)
    tasks = program.run(*job.arguments(job.target), "--plan").splitlines()
    assert len(tasks) > 1
    program.run("task", tasks[0].decode())
    job.change(way)
    job.expect_refusal_then_new()


@pytest.mark.parametrize("way", ["replace", "add"])
@pytest.mark.parametrize("kind", ["convert-shards", "transcode-shards", "transcode-files", "dvid"])
def test_of_a_server_that_cannot_list(kind, way, tmp_path):
    job = Job(kind, tmp_path)
    with RangeServer(tmp_path) as server:
        job.location = f"{server.url}/source"
        tasks = program.run(*job.arguments(job.target), "--plan").splitlines()
        program.run("task", tasks[0].decode())
        job.change(way)
        job.expect_refusal_then_new()


def parts_done(folder):
    try:
        return sum(1 for _ in folder.rglob(".dolium-plan/part-*"))
    except FileNotFoundError:  # It has just gone.
        return 0


def marker_of(folder):
    """What tells one job in a folder from the next."""
    marker = folder / ".dolium-unfinished"
    try:
        return marker.stat().st_ino, marker.stat().st_mtime_ns
    except FileNotFoundError:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_while_it_runs(kind, tmp_path):
    job = Job(kind, tmp_path)
    before = job.expected("before")
    command = [program.PROGRAM, *map(str, job.arguments(job.target)), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # Until it has made a part, or has come to its end.
    while process.poll() is None and parts_done(job.target) == 0:
        time.sleep(0)
    if process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        job.change("replace")
        process.send_signal(signal.SIGCONT)
    # It had read all before the change, or has begun again.
    assert process.wait() == 0
    after = all_files(job.target)
    if job.adds:
        before[job.changed] = after[job.changed]
    assert after in (before, job.expected("expected"))
    assert [path for path in tmp_path.rglob("*.dolium*")] == []


@pytest.mark.parametrize("changes", [1, 2, 3])
def test_beside_a_writer(changes, tmp_path):
    """Puts into a set that is converted: it begins again, three times at most."""
    job = Job("convert-shards", tmp_path)
    scale = tmp_path / "source" / "1_1_1"
    key = program.run("ls", scale).split()[0].decode()
    command = [program.PROGRAM, *map(str, job.arguments(job.target)), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    hits, last = 0, None
    # What is begun again is built beside what was begun.
    for place in [job.target, *[tmp_path / "target.dolium-new"] * 2][:changes]:
        while process.poll() is None and (parts_done(place) == 0 or marker_of(place) in (None, last)):
            time.sleep(0)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGSTOP)
        last = marker_of(place)
        (tmp_path / "value").write_text(f"value {hits}")
        program.run("put", "--force", scale, key, tmp_path / "value")
        process.send_signal(signal.SIGCONT)
        hits += 1
    output, errors = process.communicate()
    if process.returncode != 0:
        assert (process.returncode, hits) == (3, 3)
        assert b"as it had since each of the 2 beginnings before" in errors
        job.expect_refusal_then_new()
        return
    begun = re.search(rb"begun (\d+) times, as the source changed", output)
    begun = int(begun[1]) if begun else 1
    found, expected = all_files(job.target), job.expected("expected")
    if begun == hits:  # The last change came when all had been read.
        found.pop(key), expected.pop(key)
    else:
        assert begun == hits + 1
    assert found == expected
    assert not (tmp_path / "target.dolium-new").exists()


def test_that_is_described_otherwise(tmp_path):
    """The same shards, of which an edited info says something else."""
    job = Job("convert-shards", tmp_path)
    tasks = program.run(*job.arguments(job.target), "--plan").splitlines()
    program.run("task", tasks[0].decode())
    info = json.loads((job.read / "info").read_text())
    info["scales"][0]["sharding"]["data_encoding"] = "raw"
    (job.read / "info").write_text(json.dumps(info))
    program.run(*job.arguments(job.target), status=3)
