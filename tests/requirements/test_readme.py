"""Every block of README.md runs: those of the shell in order in one folder, those of Python in
another, and those that read from hosts, from a server of ours. A block that cannot run here has a
comment before it that says why:

    <!-- not run: sets up the machine -->
    <!-- run with a local server for the hosts -->
"""

import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile

import dolium
import numpy as np
import pytest

import mesh_sets
import program
from range_server import RangeServer

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
SERVED = "<!-- run with a local server for the hosts -->"
# How many blocks there are of each kind, so that none is lost without notice.
SHELL, PYTHON, HOSTS, MARKED = 10, 4, 1, 4


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    reason: str | None  # why it is not run
    served: bool  # what it reads is on hosts


def blocks():
    found, before, current = [], "", None
    for number, line in enumerate(README.read_text().splitlines(), 1):
        if current is None and line.startswith("```"):
            marked = NOT_RUN.fullmatch(before)
            reason = marked and marked[1]
            current = Block(number, line[3:] or "shell", "", reason, before == SERVED)
        elif current is not None and line == "```":
            found.append(current)
            current = None
        elif current is not None:
            current.text += line + "\n"
        if line:
            before = line
    assert current is None, f"the block of line {current.line} does not end"
    return found


def to_run(language, served=False):
    return [
        block
        for block in blocks()
        if (block.language, block.served, block.reason) == (language, served, None)
    ]


def test_every_block_is_run_or_says_why_not():
    marked = [block for block in blocks() if block.reason]
    assert len(to_run("shell")) == SHELL
    assert len(to_run("python")) == PYTHON
    assert len(to_run("shell", served=True)) == HOSTS
    assert len(marked) == MARKED
    assert len(blocks()) == SHELL + PYTHON + HOSTS + MARKED


# The rest of a pipe is read: nobody is to be ended by a signal, now or then.
PREAMBLE = """
set -euo pipefail
head() { local all; all=$(cat); command head "$@" <<< "$all"; }
"""


def as_script(text):
    """Commands end the script if they fail, but for those that are to: `# exit status 1`."""
    lines = []
    for line in text.splitlines():
        wanted = re.search(r"# exit status (\d+)", line)
        if wanted:
            line = f"status=0; {line[: wanted.start()]} || status=$?; [ $status -eq {wanted[1]} ]"
        lines.append(line)
    return PREAMBLE + "\n".join(lines)


@pytest.fixture
def folder(tmp_path):
    """What the blocks of the shell find there."""
    folder, source = tmp_path / "readme", random.Random(1)
    folder.mkdir()
    chunks = folder / "chunks"
    chunks.mkdir()
    for number in range(4000, 4100):
        (chunks / str(number)).write_bytes(source.randbytes(source.randrange(2000)))
    options = ("--to", "neuroglancer", "--data-encoding", "gzip")
    program.run("convert", *options, chunks, folder / "damaged")
    with sorted((folder / "damaged").glob("*.shard"))[0].open("r+b") as shard:
        shard.seek(5000)  # amid the chunks
        shard.write(bytes(100))

    array = np.zeros((256, 256, 170), "uint8", order="F")
    array[...] = np.arange(256)[:, None, None]
    make_volume(tmp_path / "gray", array)
    program.run("volume", "cutout", tmp_path / "gray", "-o", folder / "stack.tif")
    labels = np.zeros((256, 256, 192), "uint64", order="F")
    labels[...] = (np.arange(256) // 20)[:, None, None] + 1
    make_volume(tmp_path / "labels", labels)
    program.run("convert", "--to", "dvid", tmp_path / "labels", folder / "export")
    shutil.copy(tmp_path / "labels" / "info", folder / "info.json")
    neurons = np.zeros((256, 40, 40), "uint64", order="F")
    neurons[4:252, 8:16, 8:16], neurons[4:252, 24:32, 24:32] = 17, 23
    make_volume(folder / "neurons", neurons)

    for number in range(190, 200):
        sample = folder / "photos" / "images17" / f"image{number}"
        sample.mkdir(parents=True)
        (sample / "left.jpg").write_bytes(source.randbytes(5000))
        (sample / "meta.json").write_text(f'{{"label": {number}}}')
    for number in range(8):
        with tarfile.open(folder / f"old-{number:06}.tar", "w") as tar:
            for sample in range(190, 200):
                path = folder / "photos" / "images17" / f"image{sample}" / "meta.json"
                tar.add(path, arcname=f"{number}-{sample}.json")
    whole = tmp_path / "whole.shardpack"
    program.run("pack", "create", "--input", folder / "photos", "--output", whole)
    end = program.json_lines("pack", "ls", whole)[-1]["offset"]  # All but one are whole.
    (folder / "cut-off.shardpack").write_bytes(whole.read_bytes()[:end])

    (folder / "model.safetensors").write_bytes(source.randbytes(300_000))
    make_training_data(folder / "train-data")
    return folder


def make_volume(path, array):
    np.save(f"{path}.npy", array)
    program.run("volume", "ingest", "--resolution", "8,8,8", "--scales", "1", f"{path}.npy", path)


def make_training_data(path):
    (path / "images").mkdir(parents=True)
    for number in range(3):
        (path / "images" / f"{number}.png").write_bytes(random.Random(number).randbytes(20_000))


@pytest.fixture
def environment(tmp_path):
    """Our commands by their names, and none of the caller's settings."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("dolium", "shardpack"):
        (commands / name).symlink_to(pathlib.Path(program.PROGRAM).resolve())
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOLIUM")}
    return {**kept, "PATH": f"{commands}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def run_shell(block, text, folder, environment):
    done = subprocess.run(
        ["bash", "-c", as_script(text)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    said = f"README.md, line {block.line}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    assert done.returncode == 0, said


def test_the_shell_blocks(folder, environment):
    for block in to_run("shell"):
        run_shell(block, block.text, folder, environment)
    assert (folder / "chunk.bin").read_bytes() == (folder / "chunks" / "4021").read_bytes()
    assert np.load(folder / "box.npy").shape == (256, 256, 64)
    assert np.load(folder / "block.npy").shape == (64, 64, 64)
    assert (folder / "neuron.png").read_bytes().startswith(b"\x89PNG")
    for name, ending in (("meshes", "glb"), ("plys", "ply"), ("skeletons", "swc")):
        assert {path.name for path in (folder / name).iterdir()} == {f"17.{ending}", f"23.{ending}"}
    assert (folder / "before" / "images" / "0.png").exists()


@pytest.fixture
def hosted(tmp_path):
    """What hosts have: a segmentation of four scales, with meshes in shards."""
    voxels = np.zeros((256, 256, 256), "uint8", order="F")
    voxels[...] = np.arange(256)[:, None, None]
    hosted = tmp_path / "hosted"
    hosted.mkdir()
    np.save(hosted / "stack.npy", voxels)
    options = ("--resolution", "8,8,8", "--chunk-size", "16,16,16", "--scales", "4")
    program.run("volume", "ingest", *options, "--factor", "2,2,2", hosted / "stack.npy", hosted / "seg")
    info = mesh_sets.make_info(dolium.ShardingSpec(0, 1, 1).to_dict())
    meshes = [mesh_sets.make_mesh(number, 2) for number in range(20)]
    rows = [(number, mesh.manifest, mesh.fragments) for number, mesh in enumerate(meshes)]
    dolium.write_sharded(hosted / "seg" / "mesh", None, rows, info=info)
    return hosted


def test_the_shell_blocks_that_read_from_hosts(hosted, tmp_path, environment):
    folder = tmp_path / "here"
    folder.mkdir()
    with RangeServer(hosted) as server:
        for block in to_run("shell", served=True):
            text, replaced = re.subn(r"https://host|gs://bucket", server.url, block.text)
            assert replaced >= 1
            run_shell(block, text, folder, environment)
    chunk = dolium.open(hosted / "seg" / "8_8_8")[4021]
    assert (folder / "chunk.bin").read_bytes() == chunk
    assert dict(dolium.open(folder / "mesh").items()) == dict(dolium.open(hosted / "seg" / "mesh").items())
    assert len(dolium.open(folder / "mesh")) == 20
    assert (folder / "seg.tif").stat().st_size > 32**3


def test_the_python_blocks(tmp_path, environment):
    make_training_data(tmp_path / "train-data")
    script = tmp_path / "readme.py"
    # One after the other, as a reader would type them.
    script.write_text("\n".join(block.text for block in to_run("python")))
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert dolium.open(tmp_path / "seg")[4021] == b"new"
    assert dolium.Volume.open(tmp_path / "em").num_scales > 1
    assert (tmp_path / "restored" / "images" / "2.png").exists()
