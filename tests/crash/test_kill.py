"""kill -9 at random points: what is there afterwards is old or new, never in between, and the
same work done again gives what an undisturbed run gives.

20 kills for each kind of work; 200 with DOLIUM_LONG=1.
"""

import os
import random
import shutil
import sys

import dolium
import pytest

import killing
import program
import sharded_sets
from killing import Worker
from sharded_sets import make_spec

KILLS = 200 if os.environ.get("DOLIUM_LONG") else 20

SPEC = make_spec((0, 2, 3), "murmurhash3_x86_128", "gzip", "raw")
OTHER_SPEC = make_spec((0, 1, 4), "murmurhash3_x86_128", "raw", "gzip")
CHUNK_COUNT = 3000

# Makes the chunks itself, and reports when it begins; little memory, so that it spills.
WRITER = """
import json, random, sys
import dolium
folder, spec, seed, force = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
source = random.Random(seed)
chunks = [(id, source.randbytes(source.randrange(900))) for id in range(3000)]
source.shuffle(chunks)
print("ready", flush=True)
dolium.write_sharded(folder, spec, chunks, force=force == "force", memory=300_000, jobs=2)
"""


def make_chunks(seed):
    source = random.Random(seed)
    return {id: source.randbytes(source.randrange(900)) for id in range(CHUNK_COUNT)}


def writer(folder, seed, force=False):
    arguments = [str(folder), dolium.ShardingSpec.from_json(SPEC).to_json(), str(seed)]
    arguments.append("force" if force else "new")
    return Worker([sys.executable, "-c", WRITER, *arguments], waits_for_ready=True)


def converter(source, target, spec_file, *options):
    command = [program.PROGRAM, "convert", "--jobs", "2", "--memory", "1MiB"]
    return Worker([*command, "--to-spec", spec_file, *options, str(source), str(target)])


def moments(duration, seed, wanted=KILLS // 4):
    return killing.Moments(duration, seed, KILLS, wanted)


def check_unfinished_or_complete(folder, complete):
    """The set is complete, or readers and verify call it unfinished and each shard that is
    there is whole. Returns whether it is unfinished."""
    if not folder.exists():
        return False
    if not (folder / ".dolium-unfinished").exists():
        visible = sharded_sets.shard_files(folder)
        assert visible in ({}, sharded_sets.shard_files(complete))
        return False
    program.run("ls", folder, status=3)
    with pytest.raises((OSError, dolium.Error)):
        dolium.open(folder)
    spec = ("--spec", complete.parent / f"{complete.name}.spec")
    findings = program.json_lines("verify", *spec, folder, status=1)
    bad = [finding for finding in findings if finding["type"] == "bad"]
    assert [finding["kind"] for finding in bad] == ["unfinished"]
    return True


def is_complete(folder):
    """Whether nothing is left to do."""
    return (folder / "info").exists() and sharded_sets.leftovers(folder) == []


def is_finished(folder):
    """Whether nothing is left to do but to tidy up."""
    return (folder / "info").exists() and not (folder / ".dolium-unfinished").exists()


def write_spec(path, spec):
    path.write_text(dolium.ShardingSpec.from_json(spec).to_json())
    return path


def test_write(tmp_path):
    complete, folder = tmp_path / "complete", tmp_path / "set"
    write_spec(tmp_path / "complete.spec", SPEC)
    duration = writer(complete, seed=1).finish()
    assert dict(dolium.open(complete).items()) == make_chunks(seed=1)
    complete_bytes = sharded_sets.folder_bytes(complete)
    kills = moments(duration, seed=10, wanted=1)
    for delay in kills:
        was_killed = writer(folder, seed=1).kill_after(delay)
        kills.hit(check_unfinished_or_complete(folder, complete))
        if was_killed and not is_complete(folder) and random.Random(delay).random() < 0.5:
            continue  # The next run has to cope with what is there.
        if not is_complete(folder):
            writer(folder, seed=1).finish()
        assert sharded_sets.folder_bytes(folder) == complete_bytes
        assert sharded_sets.leftovers(folder) == []
        shutil.rmtree(folder)
    if not is_complete(folder):
        writer(folder, seed=1).finish()
    assert sharded_sets.folder_bytes(folder) == complete_bytes
    assert sharded_sets.leftovers(folder) == []


def test_write_that_replaces_a_set(tmp_path):
    old, new, folder = tmp_path / "old", tmp_path / "new", tmp_path / "set"
    writer(old, seed=1).finish()
    duration = writer(new, seed=2).finish()
    writer(folder, seed=1).finish()
    states = [sharded_sets.folder_bytes(old), sharded_sets.folder_bytes(new)]
    kills = moments(duration, seed=11)
    for number, delay in enumerate(kills):
        # In turns, so that there is always something to change.
        kills.hit(writer(folder, seed=1 + number % 2, force=True).kill_after(delay))
        assert sharded_sets.folder_bytes(folder) in states
        program.run("ls", folder)
        program.run("verify", "--quick", folder)
    writer(folder, seed=2, force=True).finish()
    assert sharded_sets.folder_bytes(folder) == states[1]
    assert sharded_sets.leftovers(folder) == []


def test_convert(tmp_path):
    source, complete, folder = tmp_path / "source", tmp_path / "complete", tmp_path / "set"
    spec = write_spec(tmp_path / "complete.spec", OTHER_SPEC)
    writer(source, seed=3).finish()
    duration = converter(source, complete, spec).finish()
    complete_bytes = sharded_sets.folder_bytes(complete)
    kills = moments(duration, seed=12, wanted=1)
    for delay in kills:
        was_killed = converter(source, folder, spec).kill_after(delay)
        if kills.hit(check_unfinished_or_complete(folder, complete)):
            for name, data in sharded_sets.shard_files(folder).items():
                assert data == complete_bytes[name]
        if was_killed and not is_finished(folder) and random.Random(delay).random() < 0.5:
            continue  # The next run resumes this one.
        if not is_complete(folder):
            converter(source, folder, spec).finish()
        assert sharded_sets.folder_bytes(folder) == complete_bytes
        assert sharded_sets.leftovers(folder) == []
        shutil.rmtree(folder)
    if not is_complete(folder):
        converter(source, folder, spec).finish()
    assert sharded_sets.folder_bytes(folder) == complete_bytes
    assert sharded_sets.leftovers(folder) == []


def test_convert_that_replaces_a_set(tmp_path):
    sources = [tmp_path / "source0", tmp_path / "source1"]
    complete = [tmp_path / "complete0", tmp_path / "complete1"]
    folder = tmp_path / "set"
    spec = write_spec(tmp_path / "spec", OTHER_SPEC)
    states, duration = [], 0.0
    for seed in (0, 1):
        writer(sources[seed], seed=4 + seed).finish()
        duration = converter(sources[seed], complete[seed], spec).finish()
        states.append(sharded_sets.folder_bytes(complete[seed]))
    converter(sources[0], folder, spec).finish()
    current = 0
    kills = moments(duration, seed=13)
    for delay in kills:
        wanted = 1 - current
        kills.hit(converter(sources[wanted], folder, spec, "--force").kill_after(delay))
        state = without_plan(sharded_sets.folder_bytes(folder))
        assert state in states
        program.run("ls", folder)
        if state != states[wanted] and random.Random(delay).random() < 0.5:
            continue  # The next run resumes this one.
        converter(sources[wanted], folder, spec, "--force").finish()
        assert sharded_sets.folder_bytes(folder) == states[wanted]
        assert sharded_sets.leftovers(folder) == []
        current = wanted
    converter(sources[1 - current], folder, spec, "--force").finish()
    assert sharded_sets.folder_bytes(folder) == states[1 - current]
    assert sharded_sets.leftovers(folder) == []


def without_plan(files):
    """The files of a set, without the bookkeeping that waits to be tidied up."""
    return {name: data for name, data in files.items() if ".dolium" not in name}


def test_put(tmp_path):
    folder, value = tmp_path / "set", tmp_path / "value"
    writer(folder, seed=6).finish()
    chunks = make_chunks(seed=6)
    source = random.Random(14)

    def change(id, number):
        value.write_bytes(b"value %d " % number * 400_000)
        command = [program.PROGRAM, "put", "--force", str(folder), str(id), str(value)]
        return Worker(command)

    duration = max(change(5, number).finish() for number in range(2))
    chunks[5] = value.read_bytes()
    kills = moments(duration, seed=15)
    for number, delay in enumerate(kills):
        id = source.randrange(CHUNK_COUNT)
        before = sharded_sets.shard_files(folder)
        was_killed = change(id, number).kill_after(delay)
        after = sharded_sets.shard_files(folder)
        assert after.keys() == before.keys()
        touched = [name for name in after if after[name] != before[name]]
        # Killed before the change, not just before the exit.
        kills.hit(was_killed and not touched)
        if touched:
            assert len(touched) == 1
            chunks[id] = value.read_bytes()
        ours = dolium.open(folder)
        assert ours[id] == chunks[id]
    ours = dolium.open(folder)
    assert dict(ours.items()) == chunks
    report = ours.verify()
    assert (report.errors, report.warnings) == (0, 0)

    # One undisturbed change of each shard sweeps away what killed ones left there.
    where = dolium.ShardingSpec.from_json(SPEC)
    one_of_each = {where.place(id)[0]: id for id in chunks}
    for id in one_of_each.values():
        ours.put(id, b"last")
        chunks[id] = b"last"
    assert sharded_sets.leftovers(folder) == []
    dolium.write_sharded(tmp_path / "complete", SPEC, chunks)
    assert sharded_sets.shard_files(folder) == sharded_sets.shard_files(tmp_path / "complete")
