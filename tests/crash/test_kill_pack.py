"""kill -9 of a writer of shards at random points: finished shards are whole, and `repair` makes of
the unfinished one a shard with every record that had been written out. A job that is killed is
completed by the same command.

20 kills for each kind of work; 200 with DOLIUM_LONG=1.
"""

import itertools
import os
import random
import shutil
import subprocess
import sys

import pytest
import shardpack

import killing
import program

KILLS = 200 if os.environ.get("DOLIUM_LONG") else 20
COUNT = 6000

# Makes the same samples for the same seed, says when it begins to write, and pauses often enough
# to be met at any size. One that is to be killed waits for that before it closes the last shard.
WRITER = """
import random, signal, sys, time
import shardpack
path, seed, count, shard_records = sys.argv[1], *map(int, sys.argv[2:5])
compression, end = sys.argv[5:7]
source = random.Random(seed)
samples = []
for number in range(count):
    content = source.randbytes(source.randrange(6000)) + bytes(source.randrange(3000))
    samples.append((f"sample{number:06}", {"bin": content, "n.txt": str(number)}))
print("ready", flush=True)
with shardpack.Writer(path, compression=compression, shard_records=shard_records, threads=2,
                      reproducible=True, resume=end == "resumed") as writer:
    for number, (key, files) in enumerate(samples[writer.samples_before:]):
        writer.write(key, files)
        if number % 20 == 0:
            time.sleep(0.001)
    if end == "killed":
        print("waiting", flush=True)
        signal.pause()
"""


def start(folder, seed, shard_records, compression, end):
    return killing.Worker(
        [sys.executable, "-c", WRITER, str(folder / "set-000000.shardpack"), str(seed),
         str(COUNT), str(shard_records), compression, end],
        waits_for_ready=True,
    )


def contents(dataset):
    return [(record.key, record.as_dict()) for record in dataset]


def temporaries(folder):
    return [path for path in folder.iterdir() if path.suffix != ".shardpack"]


@pytest.mark.parametrize(
    ("shard_records", "compression"), [(0, "none"), (1000, "none"), (0, "lz4"), (1000, "zstd")]
)
def test_a_killed_writer(tmp_path, shard_records, compression):
    whole = tmp_path / "whole"
    whole.mkdir()
    start(whole, 1, shard_records, compression, "closed").finish()
    whole_size = killing.folder_size(whole)
    names = sorted(path.name for path in whole.iterdir())
    expected = {name: contents(shardpack.open(whole / name)) for name in names}
    ends = {}
    for name in names:
        dataset = shardpack.open(whole / name)
        offsets = [int(offset) for offset in dataset.get_index()]
        ends[name] = [*offsets[1:], dataset.shards[0]["index_offset"]]

    source = random.Random(2)
    repaired_records = 0
    for kill in range(20 * KILLS):
        if kill >= KILLS // 4 and repaired_records > 0:
            break
        folder = tmp_path / f"killed{kill}"
        folder.mkdir()
        worker = start(folder, 1, shard_records, compression, "killed")
        worker.kill_at_size(folder, source.uniform(0, whole_size))
        finished = sorted(path.name for path in folder.glob("*.shardpack"))
        assert finished == names[: len(finished)]
        for name in finished:
            assert (folder / name).read_bytes() == (whole / name).read_bytes()
        left = temporaries(folder)
        assert len(left) <= 1
        if not left or len(finished) == len(names):
            continue
        # The shard that was being written is the next one.
        name = names[len(finished)]
        size = left[0].stat().st_size
        records = sum(end <= size for end in ends[name])
        if records == 0:
            program.run("pack", "repair", left[0], "--output", tmp_path / "none", status=1)
            continue
        good = tmp_path / f"good{kill}.shardpack"
        # A record that is cut off is reported as lost.
        is_cut = records < len(ends[name]) and size - ends[name][records - 1] >= 16
        program.run("pack", "repair", left[0], "--output", good, status=int(is_cut))
        assert contents(shardpack.open(good)) == expected[name][:records]
        repaired_records += records
        if shard_records:
            start(folder, 1, shard_records, compression, "resumed").finish()
            assert sorted(path.name for path in folder.iterdir()) == names
            for name in names:
                assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert repaired_records > 0


def make_folder(folder, seed, count):
    """A folder of samples, grouped by their stems."""
    source = random.Random(seed)
    folder.mkdir()
    for number in range(count):
        (folder / f"s{number:05}.bin").write_bytes(source.randbytes(source.randrange(8000)))
        (folder / f"s{number:05}.txt").write_text(str(number))
    return folder


def shards(folder):
    """What is there to be seen, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.shardpack"))}


def has_leftovers(folder):
    """Whether there is anything of a job left: then the same command completes it."""
    return any(".dolium-" in path.name for path in folder.iterdir())


def create(source, target, *options):
    command = [program.PROGRAM, "pack", "create", "--reproducible", "--jobs", "2"]
    command += ["-i", str(source), "--shard-records", "400", "--compression", "lz4"]
    return killing.Worker([*command, "-o", str(target / "t-0.shardpack"), *options])


def shuffle(source, target, *options):
    command = [program.PROGRAM, "pack", "shuffle", "--reproducible", "--jobs", "2"]
    command += ["--shards", "7", "--compression", "zstd", str(source)]
    return killing.Worker([*command, "-o", str(target / "t-0.shardpack"), *options])


def packed(source, folder):
    folder.mkdir()
    create(source, folder).finish()
    return folder


@pytest.mark.parametrize("work", [create, shuffle])
@pytest.mark.parametrize("replaces", [False, True])
def test_a_killed_job_is_completed_by_the_same_command(tmp_path, work, replaces):
    sources = [make_folder(tmp_path / f"in{seed}", seed, 1200 + 1600 * seed) for seed in (0, 1)]
    if work is shuffle:
        sources = [packed(source, tmp_path / f"{source.name}.packed") for source in sources]
    old, whole, target = (tmp_path / name for name in ("old", "whole", "target"))
    for folder in (old, whole, target):
        folder.mkdir()
    work(sources[0], old).finish()
    before = shards(old)
    duration = work(sources[1], whole).finish()
    after = shards(whole)
    assert len(after) == 7 and set(before) <= set(after)
    options = ["--force"] if replaces else []

    def begin():
        shutil.rmtree(target)
        shutil.copytree(old, target) if replaces else target.mkdir()

    begin()
    kills = killing.Moments(duration, 3, KILLS)
    for delay in kills:
        was_killed = kills.hit(work(sources[1], target, *options).kill_after(delay))
        seen = shards(target)
        for name, data in seen.items():
            assert data in (after[name], before.get(name) if replaces else None)
        is_left = has_leftovers(target)
        assert is_left or seen in ((before if replaces else {}), after)
        if was_killed and is_left and random.Random(delay).random() < 0.5:
            continue  # The next run has to cope with what is there.
        if seen != after or is_left:
            errors = (again := work(sources[1], target, *options).process).communicate()[1]
            assert again.returncode == 0, errors
        assert shards(target) == after
        assert sorted(path.name for path in target.iterdir()) == sorted(after)
        begin()


def contents_of(folder):
    """What is there to be seen, by path."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if ".dolium-" not in name}


@pytest.mark.parametrize("kind", ["folder", "mds", "lmdb", "webdataset"])
def test_a_killed_export_is_completed_by_the_same_command(tmp_path, kind):
    """Files of others in the folder stay, and those of the export appear when all are made."""
    source = packed(make_folder(tmp_path / "in", 4, 1500), tmp_path / "packed")

    def export(folder):
        target = folder / "t.tar" if kind == "webdataset" else folder
        command = [program.PROGRAM, "pack", "export", "--to", kind, "--shard-records", "200"]
        return killing.Worker([*command, "--jobs", "2", "--manifest", str(source), str(target)])

    whole, target = tmp_path / "whole", tmp_path / "target"
    whole.mkdir()
    duration = export(whole).finish()
    after = contents_of(whole)

    def begin():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        (target / "other").write_text("of somebody else")

    begin()
    kills = killing.Moments(duration, 5, KILLS)
    for delay in kills:
        was_killed = kills.hit(export(target).kill_after(delay))
        seen = contents_of(target)
        assert seen.pop("other") == b"of somebody else"
        assert all(after[name] == data for name, data in seen.items())
        is_left = has_leftovers(target)
        assert is_left or seen in ({}, after)
        if was_killed and is_left and random.Random(delay).random() < 0.5:
            continue  # The next run has to cope with what is there.
        if seen != after or is_left:
            errors = (again := export(target).process).communicate()[1]
            assert again.returncode == 0, errors
        assert contents_of(target) == after | {"other": b"of somebody else"}
        assert not has_leftovers(target)
        begin()


@pytest.mark.skipif(not killing.can_trace(), reason="strace cannot end a program here")
@pytest.mark.parametrize("kind", ["folder", "lmdb", "webdataset"])
def test_an_export_that_is_killed_at_any_sync_is_completed(tmp_path, kind):
    """At each call that waits for the disk, one after the other: nothing stays beside the files."""
    source = packed(make_folder(tmp_path / "in", 4, 12), tmp_path / "packed")
    whole, target = tmp_path / "whole", tmp_path / "target"

    def export(folder, *trace):
        folder.mkdir(exist_ok=True)
        out = folder / "t.tar" if kind == "webdataset" else folder
        command = [*trace, program.PROGRAM, "pack", "export", "--to", kind, "--jobs", "1", source, out]
        return subprocess.run(command, capture_output=True, text=True)

    assert export(whole).returncode == 0
    after = contents_of(whole)
    for number in itertools.count(1):
        shutil.rmtree(target, ignore_errors=True)
        kill = ["-e", "trace=fsync", "-e", f"inject=fsync:signal=KILL:when={number}"]
        if export(target, "strace", "-f", "-qq", "-o", "/dev/null", *kill).returncode == 0:
            break
        if contents_of(target) != after or has_leftovers(target):
            again = export(target)
            assert again.returncode == 0, (number, again.stderr)
        assert contents_of(target) == after, number
        assert not has_leftovers(target), number
    assert number > 10
