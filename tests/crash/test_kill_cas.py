"""kill -9 while a store is written, collected, indexed or exported: nothing that was reported as stored is
lost, and nothing stays that gc does not clean.

20 kills for each kind of work; 300 with DOLIUM_LONG=1.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading

import pytest

import killing
import program
from killing import Worker
from small_disk import mounted

KILLS = 300 if os.environ.get("DOLIUM_LONG") else 20


def moments(duration, seed):
    return killing.Moments(duration, seed, KILLS)


def cas(store, verb, *arguments, status=0):
    return program.run("cas", verb, "--store", store, *arguments, status=status)


def cas_worker(store, verb, *arguments):
    command = [program.PROGRAM, "cas", verb, "--store", str(store), *map(str, arguments)]
    return Worker(command)


def new_store(path):
    program.run("cas", "init", path)
    return path


def make_folder(path, seed, megabytes=24):
    """A few files, of which one is large."""
    source = random.Random(seed)
    path.mkdir(parents=True)
    (path / "large").write_bytes(source.randbytes(megabytes << 20))
    for number in range(50):
        (path / f"small{number}").write_bytes(source.randbytes(source.randrange(100_000)))
    return path


def make_large_folder(path, seed, megabytes):
    """Chunks that are all different and compress well: many xorbs of which little is written."""
    source = random.Random(seed)
    path.mkdir(parents=True)
    with (path / "large").open("wb") as file:
        for _ in range(megabytes * 128):
            file.write(source.randbytes(64).ljust(8192, b"\0"))
    for number in range(50):
        (path / f"small{number}").write_bytes(source.randbytes(source.randrange(100_000)))
    return path


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def restored(store, name, folder):
    shutil.rmtree(folder, ignore_errors=True)
    cas(store, "get", "--no-summary", name, "-o", folder)
    found = contents(folder)
    shutil.rmtree(folder)
    return found


def names(store):
    return cas(store, "ls").decode().split()


def stored_files(store):
    """The truth of a store: xorbs and shards, by name."""
    folders = (store / "xorbs", store / "shards")
    return sorted(path.name for folder in folders for path in folder.rglob("*") if path.is_file())


def leftovers(store):
    return [path for part in ("tmp", "leases") for path in (store / part).iterdir()]


def test_put(tmp_path):
    store = new_store(tmp_path / "store")
    # More xorbs than a shard that is written on the way lists.
    source = make_large_folder(tmp_path / "source", seed=1, megabytes=6 * 64)
    whole = contents(source)
    clean = new_store(tmp_path / "clean")
    duration = cas_worker(clean, "put", "--name", "n", source).finish()
    assert len(list((clean / "xorbs").rglob("*.xorb"))) > 6
    kills = moments(duration, seed=2)
    for number, delay in enumerate(kills):
        name = f"n{number}"
        was_killed = cas_worker(store, "put", "--name", name, source).kill_after(delay)
        kills.hit(was_killed)
        # A name that is there was stored, whether or not it could be reported.
        assert was_killed or name in names(store)
        if name in names(store):
            assert restored(store, name, tmp_path / "out") == whole
        if number % 5 == 4:  # From the beginning, so that there is something to store.
            cas(store, "verify", "--deep")
            for present in names(store):
                assert restored(store, present, tmp_path / "out") == whole
                cas(store, "rm", present)
            cas(store, "gc", "--grace", "0s")
            assert stored_files(store) == []
            assert leftovers(store) == []
    # Done again after all that, the store has what an undisturbed one has, and no more.
    cas(store, "put", "--name", "n", source)
    cas(store, "gc", "--grace", "0s")
    assert restored(store, "n", tmp_path / "out") == whole
    cas(store, "verify", "--deep")
    for path in (store / "names").glob("n?*"):
        shutil.rmtree(path)
    cas(store, "gc", "--grace", "0s")
    assert leftovers(store) == []
    assert restored(store, "n", tmp_path / "out") == whole


def test_put_again_stores_nothing_twice(tmp_path):
    store = new_store(tmp_path / "store")
    source = tmp_path / "file"
    pieces = random.Random(3)
    source.write_bytes(b"".join(pieces.randbytes(50 << 20) for _ in range(8)))
    # From a pipe that does not end, so that neither does the put.
    command = [program.PROGRAM, "cas", "put", "--store", str(store), "--name", "stream", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:

        def feed(data):
            with contextlib.suppress(OSError):  # Its reader is killed.
                process.stdin.write(data)

        feeder = threading.Thread(target=feed, args=(source.read_bytes(),))
        feeder.start()
        while not list((store / "shards").glob("*.mdb")):
            assert process.poll() is None
        process.kill()
        assert process.wait() == -signal.SIGKILL
        feeder.join()
    assert names(store) == []
    # What a shard lists was stored; of xorbs that came after it, nobody knows.
    shards = [program.json_lines("info", path)[0] for path in (store / "shards").glob("*.mdb")]
    kept = sum(shard["properties"]["xorb_bytes"] for shard in shards)
    assert kept > 200 << 20
    line = json.loads(cas(store, "put", "--json", source))
    assert line["new_bytes"] == (400 << 20) - kept
    cas(store, "verify", "--deep")


def test_gc(tmp_path):
    store = new_store(tmp_path / "store")
    keep = make_folder(tmp_path / "keep", seed=4, megabytes=4)
    whole = contents(keep)
    cas(store, "put", "--name", "keep", keep)

    def make_garbage(seed):
        for number in range(6):
            path = tmp_path / "garbage"
            path.write_bytes(random.Random(seed * 10 + number).randbytes(300_000))
            cas(store, "put", "--name", "garbage", path)
        # Half of what a shard lists is needed yet.
        cas(store, "put", "--name", "half", keep / "large", path)
        # A tenth of a xorb is needed yet: it is repacked.
        mixed = tmp_path / "mixed"
        shutil.rmtree(mixed, ignore_errors=True)
        mixed.mkdir()
        (mixed / "garbage").write_bytes(random.Random(seed * 10 + 8).randbytes(2_000_000))
        (mixed / "live").write_bytes(random.Random(seed * 10 + 9).randbytes(200_000))
        cas(store, "put", "--name", "mixed", mixed)
        cas(store, "put", "--name", "live", mixed / "live")
        for name in ("garbage", "half", "mixed"):
            cas(store, "rm", "--all", name)

    def live_is_whole():
        live = (tmp_path / "mixed" / "live").read_bytes()
        return cas(store, "get", "live", "-o", "-") == live

    make_garbage(0)
    duration = cas_worker(store, "gc", "--grace", "0s").finish()
    kills = moments(duration, seed=5)
    for number, delay in enumerate(kills):
        make_garbage(number + 1)
        kills.hit(cas_worker(store, "gc", "--grace", "0s").kill_after(delay))
        cas(store, "verify", "--deep")
        assert restored(store, "keep", tmp_path / "out") == whole
        assert live_is_whole()
    # Of xorbs that are half needed, all is kept unless asked for; how many there are is chance.
    line = json.loads(cas(store, "gc", "--grace", "0s", "--repack", "100%", "--json"))
    assert live_is_whole()
    used = sum(path.stat().st_size for path in (store / "xorbs").rglob("*.xorb"))
    needed = sum(map(len, whole.values())) + 200_000 * (number + 2)
    assert used < 1.05 * needed, line
    cas(store, "rm", "--all", "live")
    cas(store, "gc", "--grace", "0s")
    assert leftovers(store) == []
    alone = new_store(tmp_path / "alone")
    cas(alone, "put", "--name", "keep", keep)
    xorbs = lambda where: sorted(path.name for path in (where / "xorbs").rglob("*.xorb"))
    assert xorbs(store) == xorbs(alone)


def test_get(tmp_path):
    """Files appear whole, and a rerun with --force makes the tree that was put."""
    store = new_store(tmp_path / "store")
    source = make_folder(tmp_path / "source", seed=16, megabytes=48)
    for name in ("a", "a/b", "c"):
        below = source / "sub" / name
        below.mkdir(parents=True)
        for number in range(20):
            (below / str(number)).write_bytes(random.Random(number).randbytes(300_000))
    whole = contents(source)
    cas(store, "put", "--name", "n", source)
    out = tmp_path / "out"

    def get():
        return cas_worker(store, "get", "--force", "n", "-o", out)

    duration = get().finish()
    shutil.rmtree(out)
    kills = moments(duration, seed=17)
    for number, delay in enumerate(kills):
        was_killed = kills.hit(get().kill_after(delay))
        found = contents(out) if out.exists() else {}
        visible = {name: data for name, data in found.items() if ".dolium-tmp-" not in name}
        assert visible.items() <= whole.items()
        assert was_killed or found == whole
        if number % 3 == 0:
            continue  # The next run has to cope with what is there.
        get().finish()
        assert contents(out) == whole
        shutil.rmtree(out)
    cas(store, "gc", "--grace", "0s")
    assert leftovers(store) == []


def test_export(tmp_path):
    """Xorbs appear whole, each under its hash, and the shard last: a rerun goes on."""
    store = new_store(tmp_path / "store")
    source = make_large_folder(tmp_path / "source", seed=14, megabytes=6 * 64)
    cas(store, "put", "--name", "n", source)

    def export(folder):
        folder.mkdir(exist_ok=True)
        return cas_worker(store, "export", "-o", folder / "n.mdb", "--xorbs", folder / "xorbs", "n")

    whole = tmp_path / "whole"
    duration = export(whole).finish()
    assert len(list((whole / "xorbs").iterdir())) > 6
    folder = tmp_path / "folder"
    kills = moments(duration, seed=15)
    for delay in kills:
        was_killed = kills.hit(export(folder).kill_after(delay))
        is_complete = (folder / "n.mdb").exists()
        assert was_killed or is_complete
        if not is_complete and random.Random(delay).random() < 0.5:
            continue  # The next run has to cope with what is there.
        if not is_complete:
            export(folder).finish()
        visible = {name: data for name, data in contents(folder).items() if "dolium-" not in name}
        assert visible == contents(whole)
        shutil.rmtree(folder)


def test_reindex(tmp_path):
    store = new_store(tmp_path / "store")
    source = make_folder(tmp_path / "source", seed=6, megabytes=4)
    for number in range(20):
        path = tmp_path / "more"
        path.write_bytes(random.Random(100 + number).randbytes(500_000))
        cas(store, "put", "--name", f"more{number}", path)
    cas(store, "put", "--name", "n", source)
    duration = cas_worker(store, "reindex").finish()
    kills = moments(duration, seed=7)
    for delay in kills:
        kills.hit(cas_worker(store, "reindex").kill_after(delay))
        line = json.loads(cas(store, "put", "--json", "--name", "again", source))
        assert line["new_bytes"] == 0
    assert restored(store, "again", tmp_path / "out") == contents(source)
    cas(store, "gc", "--grace", "0s")
    assert leftovers(store) == []


def test_two_writers_and_a_gc_at_once(tmp_path):
    store = new_store(tmp_path / "store")
    sources = [make_folder(tmp_path / f"source{number}", seed=8, megabytes=6) for number in (0, 1)]
    (sources[1] / "own").write_bytes(random.Random(9).randbytes(3 << 20))
    rounds = 60 if os.environ.get("DOLIUM_LONG") else 6
    number = collected_meanwhile = 0
    # A gc may find that both have ended before it begins: then once more.
    while number < rounds or collected_meanwhile < rounds:
        assert number < 20 * rounds
        writers = [
            cas_worker(store, "put", "--name", f"w{index}", source)
            for index, source in enumerate(sources)
        ]
        while any(writer.process.poll() is None for writer in writers):
            cas(store, "gc", "--grace", "0s")
            collected_meanwhile += 1
        for writer in writers:
            writer.finish()
        for index, source in enumerate(sources):
            assert restored(store, f"w{index}", tmp_path / "out") == contents(source)
        cas(store, "verify", "--deep")
        for index in (0, 1):
            if (number + index) % 3:
                cas(store, "rm", "--all", f"w{index}")
        number += 1


@pytest.fixture
def small_disk(tmp_path):
    with mounted(tmp_path / "disk", "40m") as folder:
        yield folder


def test_full_disk(tmp_path, small_disk):
    store = new_store(small_disk / "store")
    small = make_folder(tmp_path / "small", seed=10, megabytes=8)
    large = make_folder(tmp_path / "large", seed=11, megabytes=64)
    cas(store, "put", "--name", "small", small)
    for _ in range(3):
        command = [program.PROGRAM, "cas", "put", "--store", store, "--name", "large", large]
        failed = subprocess.run([*map(str, command)], capture_output=True)
        assert failed.returncode == 3
        assert b"No space left" in failed.stderr
        assert names(store) == ["small"]
        assert restored(store, "small", tmp_path / "out") == contents(small)
    cas(store, "verify", "--deep")
    cas(store, "gc", "--grace", "0s")
    assert leftovers(store) == []
    cas(store, "put", "--name", "again", small)
    assert restored(store, "again", tmp_path / "out") == contents(small)


def test_files_that_may_not_grow(tmp_path):
    """The other way to run out of room: every write beyond a size fails."""
    store = new_store(tmp_path / "store")
    small = make_folder(tmp_path / "small", seed=12, megabytes=1)
    large = make_folder(tmp_path / "large", seed=13, megabytes=40)
    cas(store, "put", "--name", "small", small)
    script = 'trap "" XFSZ; ulimit -f 16384; exec "$@"'
    command = [program.PROGRAM, "cas", "put", "--store", store, "--name", "large", large]
    done = subprocess.run(
        ["bash", "-c", script, "bash", *map(str, command)], capture_output=True
    )
    assert done.returncode == 3, done.stderr
    assert b"File too large" in done.stderr
    assert names(store) == ["small"]
    cas(store, "verify", "--deep")
    cas(store, "gc", "--grace", "0s")
    assert restored(store, "small", tmp_path / "out") == contents(small)
    assert leftovers(store) == []
