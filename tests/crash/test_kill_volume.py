"""kill -9 while volumes are written: what is there afterwards is old, new or unfinished, and the
same work done again gives what an undisturbed run gives.

20 kills for each kind of work; 200 with DOLIUM_LONG=1.
"""

import random
import shutil
import sys

import dolium
import numpy as np
import pytest

import program
import sharded_sets
from killing import Worker, all_files
from test_kill import moments

SIZE = (150, 130, 90)
STORAGE = ("--chunk-size", "32,32,32", "--shard-size", "1MiB")


def make_source(path):
    x, y, z = np.meshgrid(*(np.arange(n) for n in SIZE), indexing="ij")
    labels = (x // 11 + y // 9 * 20 + z // 7 * 500).astype(np.uint32)
    np.save(path, np.asfortranarray(labels))
    return labels


def volume_worker(verb, *arguments):
    return Worker([program.PROGRAM, "volume", verb, "--jobs", "2", *map(str, arguments)])


def kill_again_and_again(start, folder, complete, seed, is_whole):
    """Kills the work at many moments, lets it resume, and compares what it made in the end.
    `is_whole(folder)` returns whether nothing is left to do."""
    duration = start().finish()
    assert all_files(folder) == all_files(complete)
    shutil.rmtree(folder)
    kills = moments(duration, seed)
    for delay in kills:
        was_killed = kills.hit(start().kill_after(delay))
        if was_killed and not is_whole(folder) and random.Random(delay).random() < 0.5:
            continue  # The next run resumes this one.
        if not is_whole(folder):
            start().finish()
        assert all_files(folder) == all_files(complete)
        yield
    if not is_whole(folder):
        start().finish()
    assert all_files(folder) == all_files(complete)
    assert [path for path in folder.rglob(".dolium*")] == []


def is_new_volume_whole(folder):
    marker = folder / ".dolium-unfinished"
    if folder.exists() and marker.exists():
        # Readers say so.
        with pytest.raises((OSError, dolium.Error)):
            dolium.Volume.open(folder)
    return (folder / "info").exists() and not list(folder.rglob(".dolium*"))


def test_ingest(tmp_path):
    source, folder, complete = tmp_path / "in.npy", tmp_path / "vol", tmp_path / "complete"
    labels = make_source(source)
    volume_worker("ingest", *STORAGE, source, complete).finish()
    np.testing.assert_array_equal(dolium.Volume.open(complete)[...], labels)

    def start():
        return volume_worker("ingest", *STORAGE, source, folder)

    for _ in kill_again_and_again(start, folder, complete, 30, is_new_volume_whole):
        shutil.rmtree(folder)


def test_transcode(tmp_path):
    source, folder, complete = tmp_path / "from", tmp_path / "vol", tmp_path / "complete"
    make_source(tmp_path / "in.npy")
    volume_worker("ingest", *STORAGE, tmp_path / "in.npy", source).finish()
    options = ("--encoding", "raw", "--chunk-size", "40,20,24", "--shard-size", "1MiB")
    volume_worker("transcode", *options, source, complete).finish()

    def start():
        return volume_worker("transcode", *options, source, folder)

    for _ in kill_again_and_again(start, folder, complete, 31, is_new_volume_whole):
        shutil.rmtree(folder)


def test_downsample(tmp_path):
    base, folder, complete = tmp_path / "base", tmp_path / "vol", tmp_path / "complete"
    make_source(tmp_path / "in.npy")
    volume_worker("ingest", *STORAGE, "--scales", "1", tmp_path / "in.npy", base).finish()
    shutil.copytree(base, complete)
    volume_worker("downsample", "--shard-size", "1MiB", complete).finish()
    scales = dolium.Volume.open(complete).num_scales
    assert scales > 2

    def start():
        if not folder.exists():
            shutil.copytree(base, folder)
        return volume_worker("downsample", "--shard-size", "1MiB", folder)

    def is_whole(folder):
        if not folder.exists():
            return False
        # Whatever happened to the coarser scales, the volume stays readable.
        volume = dolium.Volume.open(folder)
        assert volume.num_scales in (1, scales)
        return volume.num_scales == scales and not list(folder.rglob(".dolium*"))

    for _ in kill_again_and_again(start, folder, complete, 32, is_whole):
        shutil.rmtree(folder)


def test_rebuild(tmp_path):
    base, folder, complete = tmp_path / "base", tmp_path / "vol", tmp_path / "complete"
    make_source(tmp_path / "in.npy")
    volume_worker("ingest", *STORAGE, tmp_path / "in.npy", base).finish()
    dolium.Volume.open(base)[20:120, 10:90, 5:60] = 4_000_000
    shutil.copytree(base, complete)
    volume_worker("downsample", "--rebuild", complete).finish()

    def scales(folder):
        volume = dolium.Volume.open(folder)
        return [volume.scale(i)[...] for i in range(volume.num_scales)]

    old, new = scales(base), scales(complete)
    assert len(new) > 2 and not np.array_equal(old[1], new[1])

    def start():
        if not folder.exists():
            shutil.copytree(base, folder)
        return volume_worker("downsample", "--rebuild", folder)

    def is_whole(folder):
        if not folder.exists():
            return False
        # Every scale is the old one or the new one, at any moment.
        is_new = []
        for found, stale, made in zip(scales(folder), old, new):
            is_new.append(np.array_equal(found, made))
            assert is_new[-1] or np.array_equal(found, stale)
        return all(is_new) and not list(folder.rglob(".dolium*"))

    for _ in kill_again_and_again(start, folder, complete, 34, is_whole):
        shutil.rmtree(folder)


def is_new_export_whole(folder):
    return (folder / "spec.json").exists() and not list(folder.rglob(".dolium*"))


def make_dvid_sources(tmp_path):
    for name, scales in (("from", "2"), ("other", "1")):
        make_source(tmp_path / "in.npy")
        options = (*STORAGE, "--scales", scales, tmp_path / "in.npy", tmp_path / name)
        volume_worker("ingest", *options).finish()


def dvid_worker(source, target, *options):
    command = [program.PROGRAM, "convert", "--to", "dvid", "--shard-side", "64", "--jobs", "2"]
    return Worker([*command, *options, str(source), str(target)])


def test_dvid_export(tmp_path):
    make_dvid_sources(tmp_path)
    folder, complete = tmp_path / "export", tmp_path / "complete"
    dvid_worker(tmp_path / "from", complete).finish()

    def start():
        return dvid_worker(tmp_path / "from", folder)

    for _ in kill_again_and_again(start, folder, complete, 34, is_new_export_whole):
        shutil.rmtree(folder)


def test_dvid_export_that_replaces_one(tmp_path):
    make_dvid_sources(tmp_path)
    folder = tmp_path / "export"
    sources = [tmp_path / "other", tmp_path / "from"]
    states = []
    for number, source in enumerate(sources):
        dvid_worker(source, tmp_path / f"complete-{number}").finish()
        states.append(all_files(tmp_path / f"complete-{number}"))
    duration = dvid_worker(sources[0], folder).finish()
    current = 0
    kills = moments(duration, seed=35)
    for delay in kills:
        wanted = 1 - current
        was_killed = kills.hit(
            dvid_worker(sources[wanted], folder, "--force").kill_after(delay)
        )
        # Old or new at every moment, but for what waits to be tidied up.
        seen = {name: data for name, data in all_files(folder).items() if ".dolium" not in name}
        assert seen in states
        if was_killed:
            if random.Random(delay).random() < 0.5 and seen == states[current]:
                continue  # The next run resumes this one.
            dvid_worker(sources[wanted], folder, "--force").finish()
        assert all_files(folder) == states[wanted]
        assert not list(tmp_path.glob("*.dolium*"))
        current = wanted


WRITER = """
import sys
import dolium
volume = dolium.Volume.open(sys.argv[1])
value = int(sys.argv[2])
print("ready", flush=True)
volume[5:120, 7:100, 3:80] = value
"""


def test_assignment(tmp_path):
    folder = tmp_path / "vol"
    labels = make_source(tmp_path / "in.npy")
    volume_worker("ingest", *STORAGE, "--scales", "1", tmp_path / "in.npy", folder).finish()

    def assign(value):
        command = [sys.executable, "-c", WRITER, str(folder), str(value)]
        return Worker(command, waits_for_ready=True)

    duration = assign(1).finish()
    volume = dolium.Volume.open(folder)
    shards = [box for box in volume.shards()]
    kills = moments(duration, seed=33)
    for value, delay in enumerate(kills, 2):
        before = volume[...]
        kills.hit(assign(value).kill_after(delay))
        after = dolium.Volume.open(folder)[...]
        wanted = before.copy()
        wanted[5:120, 7:100, 3:80] = value
        for box in shards:
            # Each shard is old or new.
            assert (after[box] == before[box]).all() or (after[box] == wanted[box]).all()
        assert program.json_lines("verify", folder)[-1]["errors"] == 0
    assign(0).finish()
    labels[5:120, 7:100, 3:80] = 0
    np.testing.assert_array_equal(dolium.Volume.open(folder)[...], labels)
    assert sharded_sets.leftovers(folder) == []
