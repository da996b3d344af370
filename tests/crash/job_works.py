"""Works of every kind of job, to be killed: one table, compared with the kinds that the program has.

A work makes its sources in a folder, and has a command that makes `target` there of them.
"""

import pathlib
import re
import tarfile

import numpy as np

import program

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src" / "dolium"
STORAGE = ("--chunk-size", "32,32,32", "--shard-size", "1MiB")


def make_volume(folder):
    x, y, z = np.meshgrid(*(np.arange(n) for n in (150, 130, 90)), indexing="ij")
    labels = (x // 11 + y // 9 * 20 + z // 7 * 500).astype(np.uint32)
    np.save(folder / "in.npy", np.asfortranarray(labels))
    program.run("volume", "ingest", *STORAGE, "--scales", "2", folder / "in.npy", folder / "volume")


def make_files(folder):
    for number in range(600):
        path = folder / "files" / f"{number % 7}" / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * (number * 13 % 400))


def make_store(folder):
    make_files(folder)
    program.run("cas", "init", folder / "store")
    for name in ("one", "two"):
        program.run("cas", "put", "--store", folder / "store", "--name", name, folder / "files")


def make_tar(folder):
    make_files(folder)
    with tarfile.open(folder / "in.tar", "w") as tar:
        for path in sorted((folder / "files").rglob("*.txt")):
            tar.add(path, arcname=path.name)


# By name: the kind of its record, what makes its sources, its command, and the last file of what it
# makes.
WORKS = {
    "convert-volume": ("convert", make_volume, ("convert", "volume", "target"), "info"),
    "convert-store": ("convert", make_store, ("convert", "store", "target"), "two@1/0/0000.txt"),
    "to-precomputed": (
        "volume",
        make_volume,
        ("convert", "--to", "precomputed", "--downsample", "1", "volume", "target"),
        "info",
    ),
    "meshes": (
        "mesh-make",
        make_volume,
        ("mesh", "make", "--sharded", "volume", "target"),
        "info",
    ),
    "skeletons": (
        "skeleton-make",
        make_volume,
        ("skeleton", "make", "--sharded", "--min-voxels", "100", "--dust", "0", "volume", "target"),
        "info",
    ),
    "import": (
        "pack-create",
        make_tar,
        ("pack", "import", "--from", "webdataset", "--reproducible", "--shard-records", "50",
         "in.tar", "target/t-000.shardpack"),
        "t-000.shardpack",
    ),
}

# Those that have tests of their own: the kind, the module and the test.
TESTS = {
    "convert": ("test_kill", "test_convert"),
    "volume": ("test_kill_volume", "test_transcode"),
    "dvid": ("test_kill_volume", "test_dvid_export"),
    "pack-copy": ("test_kill_pack", "test_a_killed_job_is_completed_by_the_same_command"),
    "pack-create": ("test_kill_pack", "test_a_killed_job_is_completed_by_the_same_command"),
    "pack-export": ("test_kill_pack", "test_a_killed_export_is_completed_by_the_same_command"),
    "pack-extract": ("test_kill_pack", "test_a_killed_export_is_completed_by_the_same_command"),
    "mesh-make": ("test_kill_jobs", "test_the_same_command_completes"),
    "skeleton-make": ("test_kill_jobs", "test_the_same_command_completes"),
    "cas-export": ("test_kill_cas", "test_export"),
}


def kinds_of_jobs():
    """The kinds in the rows of the program's one table."""
    table = (SOURCES / "ops" / "job" / "job_kinds.cc").read_text()
    rows = re.findall(r"\{(?:\w+::)?(k\w+Kind),", table)
    names = {}
    for header in (SOURCES / "ops").rglob("*.h"):
        pattern = r'constexpr std::string_view (k\w+Kind) = "([^"]+)"'
        names.update(re.findall(pattern, header.read_text()))
    return {names[row] for row in rows}
